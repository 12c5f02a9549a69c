import { ApiError } from './api-error.ts'
import { ServerClock } from './server-clock.ts'

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  /** Refuse to replace what is there. */
  readonly isNew?: boolean
  readonly signal?: AbortSignal
}

const TOKEN = 'durability-console-token'

/** Kept for this tab only. */
export const token = {
  get: (): string | null => sessionStorage.getItem(TOKEN),
  set: (value: string): void => sessionStorage.setItem(TOKEN, value),
  clear: (): void => sessionStorage.removeItem(TOKEN),
}

export const serverClock: ServerClock = new ServerClock()

const base = document.querySelector<HTMLMetaElement>('meta[name="console-base"]')?.content ?? ''

/** @throws ApiError, or an Error that says that there was no answer. */
export async function api<Answer>(path: string, request: ApiRequest = {}): Promise<Answer> {
  const { method = 'GET', query = {}, body, isNew = false } = request
  const limit = AbortSignal.timeout(30_000)
  const signal = request.signal === undefined ? limit : AbortSignal.any([request.signal, limit])
  const url = new URL(base + path, location.origin)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  const given = token.get()
  const askedAt = Date.now()
  const response = await fetch(url, {
    method,
    signal,
    cache: 'no-store',
    redirect: 'manual',
    headers: {
      ...(given !== null && { authorization: `Bearer ${given}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(isNew && { 'if-none-match': '*' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    const isLate = (error as { readonly name?: unknown } | null)?.name === 'TimeoutError'
    throw new Error(isLate ? 'The server has not answered' : 'The server cannot be reached', { cause: error })
  })
  serverClock.learn(response.headers.get('date'), askedAt, Date.now())
  // The API redirects nowhere: what guards the Worker wants its own sign-in.
  if (response.type === 'opaqueredirect') throw new ApiError(401, 'Your session has ended: reload the page')
  if (response.status === 204) return undefined as Answer
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok && answer !== undefined) return answer as Answer
  const { error } = (answer ?? {}) as {
    readonly error?: { readonly message?: string; readonly field?: string }
  }
  throw new ApiError(
    response.status,
    error?.message ?? `The server answered ${response.status}`,
    error?.field,
  )
}

/** @throws ApiError for an id that no address can have. */
export function scheduleAt(id: string): string {
  if (id === '.' || id === '..') throw new ApiError(400, `id must not be '${id}'`, 'id')
  return `/schedules/${encodeURIComponent(id)}`
}
