import { RequestError } from './answers.ts'

/** The JSON object that a request holds; an empty one for none. */
export async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const text = await request.text()
  if (text === '') return {}
  // A form of another site can send text, but not this type.
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new RequestError('bad_request', 'The body must be application/json')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new RequestError('bad_request', 'The body is no JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError('bad_request', 'The body must be a JSON object')
  }
  // What was parsed and is no list has names.
  return value as Record<string, unknown>
}
