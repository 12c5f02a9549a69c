import { RequestError } from './answers.ts'

/** Bytes of a body. An input may have 128 KiB, and its text in JSON more. */
export const MAX_BODY_BYTES: number = 512 * 1024

/** The JSON object that a request holds; an empty one for none. */
export async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const bytes = await bytesOf(request)
  if (bytes.length === 0) return {}
  // A form of another site can send text, but not this type.
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new RequestError('bad_request', 'The body must be application/json')
  }
  let value: unknown
  try {
    // What is no UTF-8 is refused, not stored as something else.
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch {
    throw new RequestError('bad_request', 'The body is no JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError('bad_request', 'The body must be a JSON object')
  }
  for (const [name, member] of Object.entries(value)) refuseDeep(name, member)
  // What was parsed and is no list has names.
  return value as Record<string, unknown>
}

/** More than an input may have. What is far deeper cannot even be handed to another object. */
const MAX_DEPTH = 200

function refuseDeep(name: string, member: unknown): void {
  let level = [member]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new RequestError(
        'bad_request',
        `${name.slice(0, 80)} is nested more than ${MAX_DEPTH} deep`,
        name,
      )
    }
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
}

/** What is read is counted: a length that a request claims may be wrong, and is only a reason not to begin. */
async function bytesOf(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) throw tooLarge()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

function tooLarge(): RequestError {
  return new RequestError('too_large', `The body has more than ${MAX_BODY_BYTES} bytes`)
}
