import { expect, test } from 'vitest'
import { SimulatedCrash, simulateObject } from './index.ts'

const setup = () => simulateObject((ctx) => ({ ctx, alarm: () => undefined }))

test.each<[string, (ctx: DurableObjectState) => unknown]>([
  ['ctx.exports', (ctx) => ctx.exports],
  ['ctx.facets', (ctx) => ctx.facets],
  ['ctx.acceptWebSocket()', (ctx) => ctx.acceptWebSocket({} as WebSocket)],
  ['ctx.setWebSocketAutoResponse()', (ctx) => ctx.setWebSocketAutoResponse()],
  ['ctx.getWebSocketAutoResponse()', (ctx) => ctx.getWebSocketAutoResponse()],
  [
    'ctx.getWebSocketAutoResponseTimestamp()',
    (ctx) => ctx.getWebSocketAutoResponseTimestamp({} as WebSocket),
  ],
  ['ctx.setHibernatableWebSocketEventTimeout()', (ctx) => ctx.setHibernatableWebSocketEventTimeout(1)],
  ['ctx.getHibernatableWebSocketEventTimeout()', (ctx) => ctx.getHibernatableWebSocketEventTimeout()],
  ['ctx.getTags()', (ctx) => ctx.getTags({} as WebSocket)],
  ['storage.getCurrentBookmark()', (ctx) => ctx.storage.getCurrentBookmark()],
  ['storage.getBookmarkForTime()', (ctx) => ctx.storage.getBookmarkForTime(0)],
  ['storage.onNextSessionRestoreBookmark()', (ctx) => ctx.storage.onNextSessionRestoreBookmark('')],
])('%s is refused by name', (name, use) => {
  const { ctx } = setup()
  expect(() => use(ctx)).toThrow(`durability/testing does not simulate ${name}`)
})

test('an object has an id, no WebSockets and no properties, and lets promises go on', () => {
  const { ctx } = simulateObject(() => ({ alarm: () => undefined }), { id: 'one' })
  expect([String(ctx.id), ctx.id.name, ctx.getWebSockets(), ctx.props]).toEqual(['one', 'one', [], undefined])
  expect(ctx.waitUntil(Promise.resolve())).toBeUndefined()
})

test('abort() stops what called it, rejects requests with its reason, and leaves no instance', async () => {
  const object = setup()
  const heard: string[] = []
  const open = object.call(() => new Promise(() => undefined))
  const request = object.call(({ ctx }) => {
    ctx.storage.kv.put('lost', true)
    try {
      ctx.abort('enough')
    } finally {
      heard.push('stopped')
    }
    heard.push('went on')
  })
  await expect(request).rejects.toThrow('enough')
  await expect(open).rejects.toThrow('enough')
  expect(heard).toEqual(['stopped'])
  expect(object.alive).toBe(false)
  expect(object.ctx.storage.kv.get('lost')).toBeUndefined()
})

test('an object that is blocked for more than half a minute is reset', async () => {
  const object = setup()
  const request = object.call(({ ctx }) => ctx.blockConcurrencyWhile(() => new Promise(() => undefined)))
  const reset = expect(request).rejects.toThrow('waited for too long')
  await object.advance('29 s')
  expect(object.alive).toBe(true)
  await object.advance('1 s')
  await reset
  expect(object.alive).toBe(false)
})

test('a timer that was set before waits for the end of a block, one that is set in it does not', async () => {
  const order: string[] = []
  const object = simulateObject((ctx, clock) => ({
    run() {
      clock.setTimer(() => order.push('outer timer'), 10)
      return ctx.blockConcurrencyWhile(async () => {
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 100))
        order.push('inner timer')
      })
    },
    alarm: () => undefined,
  }))
  const request = object.call((instance) => instance.run())
  await object.advance('1 s')
  await request
  expect(order).toEqual(['inner timer', 'outer timer'])
})

test('callUntilAnswered() asks the next instance, and passes on any other error than a crash', async () => {
  let asked = 0
  const object = setup()
  const answer = object.callUntilAnswered(() => (++asked === 1 ? new Promise(() => undefined) : asked))
  object.crash()
  expect(await answer).toBe(2)
  await expect(object.call(() => Promise.reject(new RangeError('no')))).rejects.toThrow(RangeError)
  await expect(object.callUntilAnswered(() => Promise.reject(new RangeError('no')))).rejects.toThrow('no')
  const crashed = object.call(() => new Promise(() => undefined))
  object.crash()
  await expect(crashed).rejects.toThrow(SimulatedCrash)
})
