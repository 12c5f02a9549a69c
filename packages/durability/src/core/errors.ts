/** An error of this package that a caller may tell from others by its stable `code`. */
export class DurabilityError extends Error {
  override readonly name: string
  readonly code: string

  constructor(name: string, code: string, message: string) {
    super(message)
    this.name = name
    this.code = code
  }
}
