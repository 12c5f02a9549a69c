import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { cloudflareAccess } from '../../src/console/cloudflare-access.ts'
import { bearerToken, READ_ACTIONS } from '../../src/console/index.ts'

const requestWith = (headers: Readonly<Record<string, string>>) =>
  new Request('https://ops.example/schedules', { headers })

describe('a bearer token', () => {
  const secret = 'a-long-enough-secret'
  const withToken = (token: string) => requestWith({ authorization: `Bearer ${token}` })

  test('lets in who holds it, under its name', async () => {
    const authorize = bearerToken([{ token: secret, actor: 'ops' }, { token: 'another-secret-of-16' }])
    expect(await authorize(withToken(secret), 'schedules.pause')).toBe('ops')
    expect(await authorize(withToken('another-secret-of-16'), 'schedules.pause')).toBe('token')
    expect(await bearerToken(secret)(requestWith({ authorization: `bearer  ${secret}` }), 'runs.list')).toBe(
      'token',
    )
  })

  test.each([
    {},
    { authorization: '' },
    { authorization: 'Bearer ' },
    { authorization: secret },
    { authorization: `Basic ${secret}` },
    { authorization: `Bearer ${secret.slice(0, -1)}` },
    { authorization: `Bearer ${secret}0` },
    { authorization: `Bearer ${secret} ${secret}` },
  ])('keeps out %j', async (headers) => {
    await expect(bearerToken(secret)(requestWith(headers), 'runs.list')).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })

  test('is known also after the request in which it was set up was cut off', async () => {
    const cut = vi.spyOn(crypto.subtle, 'digest').mockReturnValue(new Promise(() => {}))
    const authorize = bearerToken(secret)
    void authorize(withToken(secret), 'schedules.list')
    cut.mockRestore()
    expect(await authorize(withToken(secret), 'schedules.list')).toBe('token')
  })

  test('for looking only lets nobody change anything', async () => {
    const authorize = bearerToken([{ token: secret, actions: READ_ACTIONS }])
    expect(await authorize(withToken(secret), 'schedules.list')).toBe('token')
    await expect(authorize(withToken(secret), 'schedules.trigger')).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  test.each(['', 'short', [], [{ token: 'x'.repeat(15) }], undefined, [{}]])(
    'that is none is refused: %j',
    (tokens) => {
      expect(() => bearerToken(tokens as string)).toThrow(/token/)
    },
  )

  test.each(['a-long-enough-secret\n', 'a long enough secret', 'ein-geheimes-Wörtchen'])(
    'that no header can bring is refused, for nobody could ever come in: %j',
    (token) => {
      expect(() => bearerToken(token)).toThrow('token must be printable ASCII without blanks')
      expect(() => bearerToken([{ token }])).toThrow('tokens[0].token must be printable')
    },
  )

  test('is not in the error that refuses it', () => {
    expect(() => bearerToken('hunter2')).toThrow('token must have at least 16 characters')
    expect(() => bearerToken('hunter2')).not.toThrow('hunter2')
  })
})

describe('Cloudflare Access', async () => {
  const teamDomain = 'https://team.cloudflareaccess.com'
  const audience = 'the-application'
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const other = await generateKeyPair('RS256')
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] })
  const authorize = cloudflareAccess({ teamDomain, audience, keys })

  interface Claims {
    readonly iss?: string
    readonly aud?: string
    readonly exp?: number
    readonly key?: typeof privateKey
  }
  const now = Math.floor(Date.now() / 1_000)
  const tokenOf = ({ iss = teamDomain, aud = audience, exp = now + 600, key = privateKey }: Claims = {}) =>
    new SignJWT({ email: 'ada@example.com' })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setSubject('ada')
      .setIssuer(iss)
      .setAudience(aud)
      .setIssuedAt(now)
      .setExpirationTime(exp)
      .sign(key)

  test('lets in whoever it has signed for, by header or by cookie', async () => {
    const token = await tokenOf()
    const actor = { email: 'ada@example.com', subject: 'ada' }
    expect(await authorize(requestWith({ 'cf-access-jwt-assertion': token }), 'runs.list')).toMatchObject(
      actor,
    )
    const cookie = `a=b; CF_Authorization=${token}; c=d`
    expect(await authorize(requestWith({ cookie }), 'runs.list')).toMatchObject(actor)
  })

  test.each<{ what: string; claims: Claims }>([
    { what: 'another application', claims: { aud: 'another' } },
    { what: 'another team', claims: { iss: 'https://evil.cloudflareaccess.com' } },
    { what: 'a time that is over', claims: { exp: now - 10 } },
    { what: 'nobody that it knows', claims: { key: other.privateKey } },
  ])('keeps out a token for $what', async ({ claims }) => {
    const request = requestWith({ 'cf-access-jwt-assertion': await tokenOf(claims) })
    await expect(authorize(request, 'runs.list')).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('keeps out a token that is signed with the public key as a secret, or not at all', async () => {
    const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(publicKey)))
    const hs = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', kid: 'k' })
      .setIssuer(teamDomain)
      .setAudience(audience)
      .sign(secret)
    const [, payload] = hs.split('.')
    const none = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${payload}.`
    for (const token of [hs, none, 'nonsense']) {
      const request = requestWith({ 'cf-access-jwt-assertion': token })
      await expect(authorize(request, 'runs.list')).rejects.toMatchObject({ code: 'unauthenticated' })
    }
    await expect(authorize(requestWith({}), 'runs.list')).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('keeps out a token that never ends, one whose time has not come, and one that names its own keys', async () => {
    const sign = (jwt: SignJWT, header: object = {}, key = privateKey) =>
      jwt
        .setProtectedHeader({ alg: 'RS256', kid: 'k', ...header })
        .setIssuer(teamDomain)
        .sign(key)
    const endless = new SignJWT({}).setAudience(audience)
    const early = new SignJWT({})
      .setAudience(audience)
      .setExpirationTime(now + 600)
      .setNotBefore(now + 300)
    const own = () => new SignJWT({}).setAudience(audience).setExpirationTime(now + 600)
    const jwk = await exportJWK(other.publicKey)
    for (const token of [
      await sign(endless),
      await sign(early),
      await sign(own(), { jwk }, other.privateKey),
      await sign(own(), { jku: 'https://evil.example/certs', x5u: 'https://evil.example' }, other.privateKey),
      await sign(own(), { kid: 'another' }),
    ]) {
      const request = requestWith({ 'cf-access-jwt-assertion': token })
      await expect(authorize(request, 'runs.list')).rejects.toMatchObject({ code: 'unauthenticated' })
    }
  })

  test('reads the keys of a team once, however often a Worker makes its console', async () => {
    const set = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] }
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json(set))
    onTestFinished(() => fetched.mockRestore())
    const request = requestWith({ 'cf-access-jwt-assertion': await tokenOf() })
    for (let made = 0; made < 3; made += 1) {
      const each = cloudflareAccess({ teamDomain, audience })
      expect(await each(request, 'runs.list')).toMatchObject({ subject: 'ada' })
    }
    expect(fetched.mock.calls.map(([address]) => String(address))).toEqual([
      `${teamDomain}/cdn-cgi/access/certs`,
    ])
  })

  test('stays closed when the keys cannot be had', async () => {
    const broken = cloudflareAccess({
      teamDomain,
      audience,
      keys: () => Promise.reject(new Error('unreachable')),
    })
    const request = requestWith({ 'cf-access-jwt-assertion': await tokenOf() })
    await expect(broken(request, 'runs.list')).rejects.toThrow('unreachable')
  })

  test.each([
    { what: 'fails', answer: () => new Response('down', { status: 500 }) },
    { what: 'answers no keys', answer: () => Response.json({ error: 'down' }) },
  ])('does not blame who asks when the key server $what', async ({ what, answer }) => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => answer())
    onTestFinished(() => fetched.mockRestore())
    const down = `https://${what.replaceAll(' ', '-')}.cloudflareaccess.com`
    const request = requestWith({ 'cf-access-jwt-assertion': await tokenOf({ iss: down }) })
    const asked = cloudflareAccess({ teamDomain: down, audience })(request, 'runs.list')
    await expect(asked).rejects.not.toMatchObject({ code: 'unauthenticated' })
  })

  test('asks allow who may do what', async () => {
    const readers = cloudflareAccess({
      teamDomain,
      audience,
      keys,
      allow: ({ email }, action) => email === 'ada@example.com' && action === 'schedules.list',
    })
    const request = requestWith({ 'cf-access-jwt-assertion': await tokenOf() })
    expect(await readers(request, 'schedules.list')).toMatchObject({ subject: 'ada' })
    await expect(readers(request, 'schedules.delete')).rejects.toMatchObject({ code: 'forbidden' })
  })

  test.each([
    { teamDomain: 'team.cloudflareaccess.com', audience },
    { teamDomain: 'http://team.cloudflareaccess.com', audience },
    { teamDomain: `${teamDomain}/path`, audience },
    { teamDomain, audience: '' },
    { teamDomain },
  ])('refuses the options %j', (options) => {
    expect(() => cloudflareAccess(options as never)).toThrow(/^options\.(teamDomain|audience)/)
  })
})
