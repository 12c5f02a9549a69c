import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/console/body.ts'
import { createConsole } from '../../src/console/index.ts'
import { DurabilityEngine, dispatch, memoryStore, remoteSchedules } from '../../src/schedules/index.node.ts'
import { BASE, engineAt, NOW, read, testConsole } from './setup.ts'

const DAILY = { workflow: 'brief', cron: '0 9 * * *' }
const JSON_TYPE = { 'content-type': 'application/json' }

describe('a body', () => {
  test.each(['5', '-1', 'many', ''])('is limited whatever length it claims: %j', async (length) => {
    const console = testConsole()
    const answer = await console.send('PUT', '/schedules/daily', {
      text: JSON.stringify({ ...DAILY, note: 'x'.repeat(MAX_BODY_BYTES) }),
      headers: { ...JSON_TYPE, 'content-length': length },
    })
    expect(answer.status).toBe(413)
  })

  test('that claims to be too large is not begun', async () => {
    const pulled = vi.fn()
    const text = new ReadableStream({ pull: pulled }, { highWaterMark: 0 })
    const answer = await testConsole().send('PUT', '/schedules/daily', {
      text,
      headers: { ...JSON_TYPE, 'content-length': String(MAX_BODY_BYTES + 1) },
    })
    expect(answer.status).toBe(413)
    expect(pulled).not.toHaveBeenCalled()
  })

  test('is read to its last byte and not further', async () => {
    const console = testConsole()
    const padded = (length: number) => JSON.stringify(DAILY).padEnd(length, ' ')
    const put = (length: number) =>
      console.send('PUT', '/schedules/daily', { text: padded(length), headers: JSON_TYPE })
    expect((await put(MAX_BODY_BYTES)).status).toBe(200)
    expect((await put(MAX_BODY_BYTES + 1)).status).toBe(413)
  })

  test.each<{ what: string; bytes: readonly number[] }>([
    { what: 'is no UTF-8', bytes: [...Buffer.from('{"note":"'), 0xff, ...Buffer.from('"}')] },
    { what: 'is compressed', bytes: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0] },
    { what: 'holds NaN', bytes: [...Buffer.from('{"note":NaN}')] },
  ])('that $what is no JSON', async ({ bytes }) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const answer = await console.send('POST', '/schedules/daily/pause', {
      text: new Blob([new Uint8Array(bytes)]).stream(),
      headers: JSON_TYPE,
    })
    expect(await read(answer)).toMatchObject({ status: 400, body: { error: { name: 'RequestError' } } })
    expect(await console.engine.schedules.get('daily')).toMatchObject({ paused: false })
  })

  test('nested 100,000 deep is refused as any other, also where it would have to cross to an object', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const far = remoteSchedules({
      async call(_verb, args) {
        structuredClone(args)
        return { error: { name: 'Error', message: 'not to be asked' } }
      },
    })
    for (const engine of [far, engineAt(() => NOW)]) {
      for (const field of ['input', 'searchAttributes', 'tags', 'note', 'concurrency', 'cron', 'odd']) {
        const text = `{"workflow":"brief","cron":"0 9 * * *","${field}":${deep}}`
        const answer = await testConsole({ engine }).send('PUT', '/schedules/deep', {
          text,
          headers: JSON_TYPE,
        })
        expect(await read(answer), field).toMatchObject({ status: 400, body: { error: { field } } })
      }
    }
  })

  test('changes no prototype, whatever it names', async () => {
    const console = testConsole()
    const text = '{"workflow":"brief","every":60000,"input":{"__proto__":{"polluted":1}}}'
    expect((await console.send('PUT', '/schedules/own', { text, headers: JSON_TYPE })).status).toBe(200)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(await (await console.send('GET', '/schedules/own')).text()).toContain('"__proto__"')
  })

  test('with a field of a huge name is refused in a short answer', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const body = { ...DAILY, ['k'.repeat(100_000)]: 1 }
    for (const answer of [
      await console.send('PUT', '/schedules/daily', { body }),
      await console.send('POST', '/schedules/daily/resume', { body: { ['k'.repeat(100_000)]: 1 } }),
      await console.send('GET', `/schedules?${'k'.repeat(10_000)}=1`),
    ]) {
      expect(answer.status).toBe(400)
      expect((await answer.text()).length).toBeLessThan(4_000)
    }
  })
})

describe('an address', () => {
  test.each([
    `//${BASE.slice(1)}/schedules`,
    `${BASE}//schedules`,
    `${BASE}/schedules/`,
    `${BASE}x/schedules`,
    `${BASE.toUpperCase()}/schedules`,
    `${BASE}/%73chedules`,
    `${BASE}/schedules%2Fdaily`,
    `${BASE}/schedules;a=b`,
    '/schedules',
    '/',
  ])('that only looks like one of the console is none: %j', async (path) => {
    const asked = vi.fn()
    const fetch = createConsole({ engine: engineAt(() => NOW), authorize: asked, basePath: BASE })
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const answer = await fetch(new Request(`https://ops.example${path}`, { method }))
      expect(answer.status, method).toBe(404)
      expect(asked).not.toHaveBeenCalled()
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  test.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
    'is not made to change something by %s',
    async (name) => {
      const console = testConsole()
      await console.engine.schedules.create({ ...DAILY, id: 'daily' })
      await console.send('GET', '/schedules/daily', { headers: { [name]: 'DELETE' } })
      expect(console.asked).toEqual(['schedules.get'])
      expect(await console.engine.schedules.get('daily')).not.toBeNull()
    },
  )
})

describe('what another site sends', () => {
  test.each<{ headers: Readonly<Record<string, string>>; status: number }>([
    { headers: { 'sec-fetch-site': 'same-origin' }, status: 200 },
    { headers: { 'sec-fetch-site': 'none' }, status: 200 },
    { headers: { 'sec-fetch-site': '' }, status: 403 },
    { headers: { 'sec-fetch-site': 'same-origin, cross-site' }, status: 403 },
    { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://ops.example' }, status: 403 },
    { headers: { origin: 'https://ops.example' }, status: 200 },
    { headers: { origin: 'http://ops.example' }, status: 403 },
    { headers: { origin: 'https://ops.example:8443' }, status: 403 },
    { headers: { origin: 'https://ops.example.evil' }, status: 403 },
    { headers: { origin: '' }, status: 403 },
  ])('is told by its headers: $headers', async ({ headers, status }) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    expect((await console.send('POST', '/schedules/daily/pause', { headers })).status).toBe(status)
  })
})

test('a start that fails with a code of its own is a 502 in its own words, not what the code is of ours', async () => {
  for (const code of ['ECONNREFUSED', 'unauthenticated', 'forbidden', 'not_found']) {
    const coded = dispatch(() => {
      throw Object.assign(new Error('the queue is full'), { code })
    })
    const engine = new DurabilityEngine({ store: memoryStore(), clock: () => NOW, workflows: { coded } })
    await engine.schedules.create({ ...DAILY, id: 'daily', workflow: 'coded' })
    const answer = await testConsole({ engine }).send('POST', '/schedules/daily/trigger')
    expect(await read(answer), code).toEqual({
      status: 502,
      body: { error: { name: 'RequestError', message: 'the queue is full' } },
    })
  }
})

describe('the audit log', () => {
  test('is written before the answer: a Worker may end with it', async () => {
    const written: string[] = []
    const console = testConsole({
      async onChange({ action }) {
        await new Promise((resolve) => setImmediate(resolve))
        written.push(action)
      },
    })
    expect((await console.send('PUT', '/schedules/daily', { body: DAILY })).status).toBe(200)
    expect(written).toEqual(['schedules.upsert'])
  })

  test('that cannot be written is reported, and the change is answered', async () => {
    const reported = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {})
    onTestFinished(() => reported.mockRestore())
    const console = testConsole({ onChange: () => Promise.reject(new Error('no disk')) })
    expect((await console.send('PUT', '/schedules/daily', { body: DAILY })).status).toBe(200)
    expect(reported.mock.calls.join()).toContain('no disk')
  })
})
