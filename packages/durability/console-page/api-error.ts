/** The API answered, and not with what was asked for. */
export class ApiError extends Error {
  readonly status: number
  /** The field of the definition that is wrong. */
  readonly field: string | undefined

  constructor(status: number, message: string, field?: string) {
    super(message)
    this.status = status
    this.field = field
  }
}
