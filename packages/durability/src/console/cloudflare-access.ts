import {
  createRemoteJWKSet,
  type JWTPayload,
  type JWTVerifyGetKey,
  errors as joseErrors,
  jwtVerify,
} from 'jose'
import { check } from '../core/checks.ts'
import type { Authorize, ConsoleAction } from './actions.ts'
import { ForbiddenError, UnauthenticatedError } from './errors.ts'

/** Who Cloudflare Access let through. */
export interface AccessActor {
  /** Of a person; a service token has none. */
  readonly email: string | null
  readonly subject: string
  readonly claims: JWTPayload
}

export interface CloudflareAccessOptions {
  /** `https://<your team>.cloudflareaccess.com` */
  readonly teamDomain: string
  /** The application audience (AUD) tag. */
  readonly audience: string
  /** Says who may do what. Default: whoever Access lets through may do everything. */
  readonly allow?: (actor: AccessActor, action: ConsoleAction) => boolean | Promise<boolean>
  /** Finds the key of a token. Default: the team's, from `<teamDomain>/cdn-cgi/access/certs`. */
  readonly keys?: JWTVerifyGetKey
}

/**
 * An `authorize` for a Worker behind Cloudflare Access. The header is not trusted, its JWT is verified: a Worker can be
 * reached around Access, by its workers.dev address for instance.
 *
 * @throws TypeError for bad options.
 */
export function cloudflareAccess(options: CloudflareAccessOptions): Authorize<AccessActor> {
  check('options', options, 'object')
  const { teamDomain, audience, allow } = options
  check('options.teamDomain', teamDomain, 'string')
  check('options.audience', audience, 'string')
  if (audience === '')
    throw new TypeError('options.audience must not be empty, for then every application would do')
  if (!/^https:\/\/[^/]+\/?$/.test(teamDomain)) {
    throw new TypeError(
      `options.teamDomain must be "https://<team>.cloudflareaccess.com", got "${teamDomain}"`,
    )
  }
  const issuer = teamDomain.replace(/\/$/, '')
  const keys = options.keys ?? keysOf(issuer)
  const rules = { issuer, audience, algorithms: ['RS256'], requiredClaims: ['exp'] }

  return async (request, action) => {
    const token = tokenOf(request)
    if (token === undefined)
      throw new UnauthenticatedError('Cloudflare Access has not let this request through')
    const { payload } = await jwtVerify(token, keys, rules).catch((error: unknown) => {
      // A key server that fails is not the fault of who asks; it stays closed all the same.
      if (!(error instanceof joseErrors.JOSEError) || OF_KEYS.has(error.code)) throw error
      throw new UnauthenticatedError(`The token of Cloudflare Access is refused: ${error.code}`)
    })
    const { email, sub = '' } = payload
    const actor = { email: typeof email === 'string' ? email : null, subject: sub, claims: payload }
    if (allow !== undefined && !(await allow(actor, action))) {
      throw new ForbiddenError(`${actor.email ?? 'This service'} may not do ${action}`)
    }
    return actor
  }
}

/** What `jose` calls a key server that does not answer, or answers something else than keys. */
const OF_KEYS: ReadonlySet<string> = new Set(
  [joseErrors.JWKSTimeout, joseErrors.JWKSInvalid, joseErrors.JOSEError].map(({ code }) => code),
)

const KEYS = new Map<string, JWTVerifyGetKey>()

/** The keys of a team outlive a request, also where each request makes its own console. */
function keysOf(issuer: string): JWTVerifyGetKey {
  const known = KEYS.get(issuer)
  if (known !== undefined) return known
  const keys = createRemoteJWKSet(new URL(`${issuer}/cdn-cgi/access/certs`))
  KEYS.set(issuer, keys)
  return keys
}

function tokenOf(request: Request): string | undefined {
  const header = request.headers.get('cf-access-jwt-assertion')
  if (header !== null) return header
  const [, cookie] = /(?:^|;\s*)CF_Authorization=([^;]+)/.exec(request.headers.get('cookie') ?? '') ?? []
  return cookie
}
