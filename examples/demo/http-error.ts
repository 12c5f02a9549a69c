/** An answer other than 200, thrown from wherever it is noticed. `field` names the input that is to blame. */
export class HttpError extends Error {
  readonly status: number
  readonly field: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    field: string | undefined,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.field = field
    this.headers = headers
  }

  toResponse(): Response {
    const { field, message, status, headers } = this
    return Response.json(
      { error: { ...(field === undefined ? {} : { field }), message } },
      { status, headers },
    )
  }
}

/** Bad input. */
export function badInput(field: string, message: string): HttpError {
  return new HttpError(400, field, message)
}
