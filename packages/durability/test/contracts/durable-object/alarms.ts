import { beforeAll, describe, expect, test } from 'vitest'
import { type ContractObject, failureOf, type Inside, type ObjectDriver } from './driver.ts'

const IN_A_MINUTE = 60_000
const forever = () => new Promise<never>(() => undefined)
const fail = (): never => {
  throw new RangeError('undone')
}

export function alarmsContract(driver: ObjectDriver): void {
  const setIn = (object: ContractObject, ms: number): Promise<number> =>
    object.request(async ({ storage, now }) => {
      const at = now() + ms
      await storage.setAlarm(at)
      return at
    })
  const alarmAt = (object: ContractObject) => object.request(({ storage }) => storage.getAlarm())

  describe('an alarm', () => {
    test('is delivered once, not before its time, and is gone then', async () => {
      const object = driver.object()
      const { at, stored } = await object.request(async ({ storage, now }) => {
        const at = now() + 30
        await storage.setAlarm(at)
        return { at, stored: await storage.getAlarm() }
      })
      expect(stored).toBe(at)
      await object.until('it comes', () => object.alarms[0]?.isOpen === false)
      await object.until('it is gone', async () => (await alarmAt(object)) === null)
      await object.quiet(50)
      expect(object.alarms).toHaveLength(1)
      expect(object.alarms[0]?.info).toEqual({ scheduledTime: at, retryCount: 0, isRetry: false })
      expect(object.alarms[0]?.startedAt).toBeGreaterThanOrEqual(at)
    })

    test('set anew takes the place of the one before', async () => {
      const object = driver.object()
      const at = await object.request(async ({ storage, now }) => {
        await storage.setAlarm(now() + 20)
        await storage.sync()
        const at = now() + 40
        await storage.setAlarm(at)
        return at
      })
      await object.until('it comes', () => object.alarms.length === 1)
      await object.quiet(50)
      expect(object.alarms.map(({ info }) => info.scheduledTime)).toEqual([at])
    })

    test('that is deleted does not come', async () => {
      const object = driver.object()
      await object.request(async ({ storage, now }) => {
        await storage.setAlarm(now() + 20)
        await storage.sync()
        await storage.deleteAlarm()
      })
      expect(await alarmAt(object)).toBeNull()
      await object.quiet(60)
      expect(object.alarms).toEqual([])
    })

    test('set for the past is set for now', async () => {
      const object = driver.object()
      const { at, before } = await object.request(async ({ storage, now }) => {
        const before = now()
        await storage.setAlarm(5)
        return { before, at: (await storage.getAlarm()) ?? 0 }
      })
      expect(at).toBeGreaterThanOrEqual(before)
      expect(at).toBeLessThan(before + 1_000)
      await object.until('it comes', () => object.alarms.length === 1)
    })

    test('whose change is undone comes as it was', async () => {
      const object = driver.object()
      const at = await object.request(async ({ storage, now }) => {
        const at = now() + 30
        await storage.setAlarm(at)
        await storage.sync()
        const undo = (change: () => unknown) =>
          failureOf(() =>
            storage.transactionSync(() => {
              void change()
              fail()
            }),
          )
        await undo(() => storage.setAlarm(at + IN_A_MINUTE))
        await undo(() => storage.deleteAlarm())
        return at
      })
      await object.until('it comes', () => object.alarms.length === 1)
      expect(object.alarms[0]?.info.scheduledTime).toBe(at)
    })

    test('can be set as a Date, and a fraction of a millisecond is dropped', async () => {
      const object = driver.object()
      const at = object.now() + IN_A_MINUTE
      await object.request(({ storage }) => storage.setAlarm(new Date(at)))
      expect(await alarmAt(object)).toBe(at)
      await object.request(({ storage }) => storage.setAlarm(at + 0.9))
      expect(await alarmAt(object)).toBe(at)
    })

    test.each<[string, unknown, string]>([
      ['0', 0, 'TypeError: setAlarm() cannot be called with an alarm time <= 0'],
      ['-1', -1, 'TypeError: setAlarm() cannot be called with an alarm time <= 0'],
      ['0.5', 0.5, 'TypeError: setAlarm() cannot be called with an alarm time <= 0'],
      ['NaN', Number.NaN, 'TypeError: The value cannot be converted because it is not a valid Date.'],
      ['an invalid Date', new Date(Number.NaN), 'TypeError: The value cannot be converted'],
      ['Infinity', Number.POSITIVE_INFINITY, 'TypeError: The value cannot be converted'],
      ['the year 33658', 1e15, "TypeError: This API doesn't support dates after 2189."],
      ['a text', '2030-01-01', "TypeError: Failed to execute 'setAlarm' on 'DurableObjectStorage'"],
      ['null', null, "TypeError: Failed to execute 'setAlarm' on 'DurableObjectStorage'"],
      ['nothing', undefined, "TypeError: Failed to execute 'setAlarm' on 'DurableObjectStorage'"],
    ])('at %s is refused by a rejection, and changes nothing', async (_name, at, message) => {
      const object = driver.object()
      const before = await setIn(object, IN_A_MINUTE)
      const failure = await object.request(async ({ storage }) => {
        // Not thrown: a promise is what comes back.
        const refused = storage.setAlarm(at as number)
        return await failureOf(() => refused)
      })
      expect(failure).toContain(message)
      expect(await alarmAt(object)).toBe(before)
    })
  })

  describe('alarm()', () => {
    test('sees no alarm until it sets one', async () => {
      const seen: (number | null)[] = []
      const object = driver.object({
        async alarm({ storage, now }, _info, number) {
          seen.push(await storage.getAlarm())
          if (number > 1) return
          await storage.setAlarm(now() + 20)
          seen.push(await storage.getAlarm())
        },
      })
      await setIn(object, 1)
      await object.until('both come', () => object.alarms.length === 2)
      expect(seen[0]).toBeNull()
      expect(seen[1]).toBe(object.alarms[1]?.info.scheduledTime)
      await object.until('none is left', async () => (await alarmAt(object)) === null)
    })

    test('is never run twice at a time: an alarm that comes due waits for its end', async () => {
      let overlaps = 0
      const object = driver.object({
        async alarm({ storage, now, pause }, _info, number) {
          if (object.alarms.filter(({ isOpen }) => isOpen).length > 1) overlaps += 1
          if (number > 2) return
          await storage.setAlarm(now() + 1)
          await pause(30)
        },
      })
      await setIn(object, 1)
      await object.until('three have come', () => object.alarms.length === 3)
      expect(overlaps).toBe(0)
      expect(object.alarms[1]?.startedAt).toBeGreaterThan(object.alarms[1]?.info.scheduledTime ?? 0)
    })

    test('does not keep requests waiting, and one of them can set the next alarm', async () => {
      let open = () => {}
      const opened = new Promise<void>((resolve) => {
        open = resolve
      })
      const object = driver.object({ alarm: (_inside, _info, number) => (number === 1 ? opened : undefined) })
      await setIn(object, 1)
      await object.until('it runs', () => object.alarms[0]?.isOpen === true)
      expect(await alarmAt(object)).toBeNull()
      const at = await setIn(object, 5)
      await object.quiet(20)
      expect(object.alarms).toHaveLength(1)
      expect(await alarmAt(object)).toBe(at)
      open()
      await object.until('the next comes', () => object.alarms.length === 2)
      expect(object.alarms[1]?.info).toEqual({ scheduledTime: at, retryCount: 0, isRetry: false })
    })

    test('that ends well after undoing its own setAlarm leaves an alarm in storage that never comes', async () => {
      const object = driver.object({
        alarm: ({ storage, now }) =>
          failureOf(() =>
            storage.transactionSync(() => {
              void storage.setAlarm(now() + 5)
              fail()
            }),
          ),
      })
      const at = await setIn(object, 5)
      await object.until('it has ended', () => object.alarms[0]?.isOpen === false)
      await object.quiet(50)
      expect(await alarmAt(object)).toBe(at)
      expect(object.alarms).toHaveLength(1)
    })

    test('cut off by a crash is delivered again, unless it had set or deleted the alarm durably', async () => {
      const cutOff = (before: (inside: Inside) => Promise<unknown>) =>
        driver.object({
          async alarm(inside, _info, number) {
            if (number > 1) return
            inside.storage.kv.put('started', true)
            await before(inside)
            await inside.storage.sync()
            await forever()
          },
        })
      const plain = cutOff(async () => undefined)
      const moved = cutOff(({ storage, now }) => storage.setAlarm(now() + IN_A_MINUTE))
      const deleted = cutOff(({ storage }) => storage.deleteAlarm())
      const objects = [plain, moved, deleted]
      for (const object of objects) await setIn(object, 1)
      await plain.until('all run', () => objects.every(({ alarms }) => alarms.length === 1))
      await plain.quiet(20)
      for (const object of objects) await object.crash()
      await plain.until('it comes again', () => plain.alarms.length === 2)
      expect(plain.alarms[1]?.info.scheduledTime).toBe(plain.alarms[0]?.info.scheduledTime)
      expect(await plain.request(({ storage }) => storage.kv.get('started'))).toBe(true)
      expect([moved.alarms.length, deleted.alarms.length]).toEqual([1, 1])
      expect(await alarmAt(moved)).not.toBeNull()
      expect(await alarmAt(deleted)).toBeNull()
    })
  })

  describe('after an alarm() that failed', () => {
    interface History {
      readonly calls: ContractObject['alarms']
      readonly setAt: number
      readonly left: number | null
      readonly wrote: unknown
    }
    const histories = new Map<string, History>()

    async function play(
      name: string,
      first: (inside: Inside) => unknown,
      inThePause?: (object: ContractObject) => Promise<unknown>,
    ): Promise<void> {
      const object = driver.object({
        alarm(inside, _info, number) {
          inside.storage.kv.put('wrote', number)
          return number === 1 ? first(inside) : undefined
        },
      })
      const setAt = await setIn(object, 5)
      await object.until('it fails', () => object.alarms.length === 1)
      await object.quiet(50)
      await inThePause?.(object)
      const { length } = object.alarms
      const isOver = () => object.now() > setAt + 4_000
      await object.until('the pause is over', () => object.alarms.length > length || isOver())
      await object.quiet(100)
      const wrote = await object.request(({ storage }) => storage.kv.get('wrote'))
      histories.set(name, { calls: [...object.alarms], setAt, left: await alarmAt(object), wrote })
    }

    // All at once, for a real pause is two seconds long.
    beforeAll(async () => {
      const within = (ms: number) => (object: ContractObject) => setIn(object, ms)
      await Promise.all([
        play('throws', fail),
        play('aborts', ({ ctx, storage }) => {
          storage.kv.put('lost', true)
          ctx.abort('enough')
        }),
        play('sets', async ({ storage, now }) => {
          await storage.setAlarm(now() + 300)
          fail()
        }),
        play('deletes', async ({ storage }) => {
          await storage.deleteAlarm()
          fail()
        }),
        play('deletes all', async ({ storage }) => {
          await storage.deleteAll()
          fail()
        }),
        play('set in the pause', fail, within(100)),
        play('set for later', fail, within(2_700)),
        play('deleted in the pause', fail, (object) =>
          object.request(({ storage }) => storage.deleteAlarm()),
        ),
      ])
    }, 30_000)

    const infos = (name: string) => histories.get(name)?.calls.map(({ info }) => info)
    const first = (name: string) => ({
      scheduledTime: histories.get(name)?.setAt,
      retryCount: 0,
      isRetry: false,
    })
    const retry = (name: string) => ({ ...first(name), retryCount: 1, isRetry: true })

    test('it is retried once some two seconds have passed, and what it wrote is kept', () => {
      expect(infos('throws')).toEqual([first('throws'), retry('throws')])
      const [one, two] = histories.get('throws')?.calls ?? []
      expect((two?.startedAt ?? 0) - (one?.startedAt ?? 0)).toBeGreaterThanOrEqual(1_800)
      expect(histories.get('throws')).toMatchObject({ left: null, wrote: 2 })
    })

    test('by abort(), it is retried too, as a retry', () => {
      expect(infos('aborts')).toEqual([first('aborts'), retry('aborts')])
      expect(histories.get('aborts')?.left).toBeNull()
    })

    test('but had set a new alarm, only that comes', () => {
      expect(infos('sets')).toEqual([first('sets'), { ...first('sets'), scheduledTime: expect.any(Number) }])
      const [one, two] = infos('sets') ?? []
      expect(two?.scheduledTime).toBeGreaterThan((one?.scheduledTime ?? 0) + 200)
    })

    test.each(['deletes', 'deletes all'])('but %s, nothing comes', (name) => {
      expect(infos(name)).toEqual([first(name)])
      expect(histories.get(name)?.left).toBeNull()
    })

    test('an alarm set for a time within the pause is served by the retry', () => {
      expect(infos('set in the pause')).toEqual([first('set in the pause'), retry('set in the pause')])
      expect(histories.get('set in the pause')?.left).toBeNull()
    })

    test('an alarm set for later takes the place of the retry', () => {
      const [one, two, ...more] = infos('set for later') ?? []
      expect(one).toEqual(first('set for later'))
      expect(two).toMatchObject({ retryCount: 0, isRetry: false })
      expect(two?.scheduledTime).toBeGreaterThan((one?.scheduledTime ?? 0) + 2_000)
      expect(more).toEqual([])
    })

    test('deleting the alarm takes the retry away', () => {
      expect(infos('deleted in the pause')).toEqual([first('deleted in the pause')])
      expect(histories.get('deleted in the pause')?.left).toBeNull()
    })
  })
}
