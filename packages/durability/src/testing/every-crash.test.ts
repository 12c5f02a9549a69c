import { expect, test } from 'vitest'
import type { Clock } from '../core/clock.ts'
import { type CrashPoint, everyCrash, simulateObject } from './index.ts'

/** Writes a row, and once that is durable tells the outside; the order of the two is for the test to choose. */
class Notary {
  readonly ctx: DurableObjectState
  readonly clock: Clock
  readonly tell: (at: number) => void
  readonly careless: boolean

  constructor(ctx: DurableObjectState, clock: Clock, tell: (at: number) => void, careless = false) {
    this.ctx = ctx
    this.clock = clock
    this.tell = tell
    this.careless = careless
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS deed (at INTEGER PRIMARY KEY)')
  }

  start(): Promise<void> {
    return this.ctx.storage.setAlarm(this.clock.now() + 1_000)
  }

  async alarm(info: { readonly scheduledTime: number }): Promise<void> {
    if (this.careless) this.tell(info.scheduledTime)
    this.ctx.storage.sql.exec('INSERT OR IGNORE INTO deed VALUES (?)', info.scheduledTime)
    await this.ctx.storage.sync()
    if (!this.careless) this.tell(info.scheduledTime)
  }
}

test('a history is played once as it is, and once for every write and every seam', async () => {
  const crashes: (CrashPoint | undefined)[] = []
  const histories = await everyCrash(async (crashing, crash) => {
    crashes.push(crash)
    const object = crashing(simulateObject((ctx, clock) => new Notary(ctx, clock, () => undefined)))
    await object.callUntilAnswered((notary) => notary.start())
    await object.advance('1 minute')
    expect(object.rows('SELECT count(*) AS deeds FROM deed')).toEqual([{ deeds: 1 }])
  })
  expect(crashes).toHaveLength(histories)
  expect(crashes.slice(0, 3)).toEqual([undefined, { write: 1, when: 'before' }, { write: 1, when: 'after' }])
  expect(crashes.at(-1)).toEqual({ seam: expect.any(Number) })
})

test('what only a crash brings to light is thrown with the name of the crash', async () => {
  const played = everyCrash(async (crashing) => {
    const told: number[] = []
    const object = crashing(
      simulateObject((ctx, clock, life) => {
        const tell = (at: number) => void (life.dead || told.push(at))
        return new Notary(ctx, clock, tell, true)
      }),
    )
    await object.callUntilAnswered((notary) => notary.start())
    await object.advance('1 minute')
    expect(new Set(told).size).toBe(told.length)
  })
  await expect(played).rejects.toThrow(/in the history with a crash before write 3\)$/)
})

test('an error that comes without a crash is thrown as it is', async () => {
  const played = everyCrash((crashing) => {
    crashing(simulateObject(() => ({ alarm: () => undefined })))
    throw new Error('always')
  })
  await expect(played).rejects.toThrow(/^always$/)
})

test('each object of a history crashes in its turn', async () => {
  const crashed: string[] = []
  await everyCrash(async (crashing, crash) => {
    for (const id of ['one', 'two']) {
      const object = crashing(simulateObject((ctx) => ({ ctx, alarm: () => undefined }), { id }))
      const put = object.call(({ ctx }) => ctx.storage.kv.put('key', id))
      await put.catch(() => crashed.push(`${id} ${JSON.stringify(crash)}`))
    }
  })
  expect(crashed).toEqual([
    'one {"write":1,"when":"before"}',
    'one {"write":1,"when":"after"}',
    'one {"seam":1}',
    'two {"write":1,"when":"before"}',
    'two {"write":1,"when":"after"}',
    'two {"seam":1}',
  ])
})

test('a history that gives no object to its crash, or is no function, is refused', async () => {
  await expect(everyCrash(() => undefined)).rejects.toThrow('gave no object')
  await expect(everyCrash(5 as never)).rejects.toThrow('history must be a function, got 5')
})
