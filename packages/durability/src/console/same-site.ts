import { ForbiddenError } from './errors.ts'

/**
 * Refuses what another site makes a browser send. Browsers say where a request comes from in `Sec-Fetch-Site`, and in
 * `Origin` where they are too old for that; a client that is no browser sends neither.
 *
 * @throws ForbiddenError
 */
export function refuseOtherSites(request: Request): void {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const isOther =
    site === null
      ? origin !== null && origin !== new URL(request.url).origin
      : site !== 'same-origin' && site !== 'none'
  if (isOther) throw new ForbiddenError('Requests from other sites are refused')
}
