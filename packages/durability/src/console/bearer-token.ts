import { check } from '../core/checks.ts'
import type { Authorize, ConsoleAction } from './actions.ts'
import { ForbiddenError, UnauthenticatedError } from './errors.ts'

export interface BearerToken {
  /** At least 16 characters: a secret of the Worker, made at random. */
  readonly token: string
  /** Who holds it. Default `token`. */
  readonly actor?: string
  /** What it allows. Default: everything. `READ_ACTIONS` makes it one for looking only. */
  readonly actions?: readonly ConsoleAction[]
}

const MIN_LENGTH = 16

/**
 * An `authorize` for `Authorization: Bearer <token>`. Tokens are compared in a time that does not depend on them.
 *
 * @throws TypeError or RangeError for a token that is missing or short, or that no header can hold.
 */
export function bearerToken(tokens: string | readonly BearerToken[]): Authorize<string> {
  const known: readonly BearerToken[] = typeof tokens === 'string' ? [{ token: tokens }] : tokens
  check('tokens', known, 'object')
  if (known.length === 0) throw new RangeError('tokens must not be empty')
  known.forEach(({ token }, index) => {
    const at = typeof tokens === 'string' ? 'token' : `tokens[${index}].token`
    check(at, token, 'string', 1, 1_000)
    // Not quoted: it is a secret, if a bad one.
    if (token.length < MIN_LENGTH) throw new RangeError(`${at} must have at least ${MIN_LENGTH} characters`)
    // A secret that was stored with the end of its line would keep everyone out, and nobody would see why.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new RangeError(`${at} must be printable ASCII without blanks`)
  })
  // Kept once it is there. A promise of a request that was cut off never settles.
  let digests: readonly Uint8Array[] | undefined

  return async (request, action) => {
    const [, given] = /^Bearer +([^ ]+) *$/i.exec(request.headers.get('authorization') ?? '') ?? []
    if (given === undefined) throw new UnauthenticatedError('A bearer token is needed')
    const digest = await digestOf(given)
    let found: BearerToken | undefined
    digests ??= await Promise.all(known.map(({ token }) => digestOf(token)))
    for (const [index, other] of digests.entries()) {
      if (isEqual(digest, other)) found = known[index]
    }
    if (found === undefined) throw new UnauthenticatedError('The bearer token is not known')
    const { actor = 'token', actions } = found
    if (actions !== undefined && !actions.includes(action)) {
      throw new ForbiddenError(`This token does not allow ${action}`)
    }
    return actor
  }
}

/** Digests have one length, whatever the tokens have. */
async function digestOf(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = 0
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0)
  return difference === 0
}
