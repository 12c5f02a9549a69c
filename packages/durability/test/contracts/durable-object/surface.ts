import { describe, expect, test } from 'vitest'
import type { ObjectDriver } from './driver.ts'

/** Members of the real `ctx` and its parts, as the pinned runtime has them. */
const SURFACE: Readonly<Record<string, readonly string[]>> = {
  ctx: [
    'abort acceptWebSocket blockConcurrencyWhile exports facets getHibernatableWebSocketEventTimeout getTags',
    'getWebSocketAutoResponse getWebSocketAutoResponseTimestamp getWebSockets id props',
    'setHibernatableWebSocketEventTimeout setWebSocketAutoResponse storage waitUntil',
  ],
  'ctx.id': ['equals toString'],
  'ctx.storage': [
    'delete deleteAlarm deleteAll get getAlarm getBookmarkForTime getCurrentBookmark kv list',
    'onNextSessionRestoreBookmark put setAlarm sql sync transaction transactionSync',
  ],
  'ctx.storage.kv': ['delete get list put'],
  'ctx.storage.sql': ['Cursor Statement databaseSize exec'],
  'a cursor': ['columnNames next one raw rowsRead rowsWritten toArray'],
}

export function surfaceContract(driver: ObjectDriver): void {
  describe('the surface', () => {
    test.each(Object.entries(SURFACE))('of %s has the members of the runtime', async (name, members) => {
      const missing = await driver.object().request(({ ctx }) => {
        const parts: Record<string, object> = {
          ctx,
          'ctx.id': ctx.id,
          'ctx.storage': ctx.storage,
          'ctx.storage.kv': ctx.storage.kv,
          'ctx.storage.sql': ctx.storage.sql,
          'a cursor': ctx.storage.sql.exec('SELECT 1 AS a'),
        }
        const part = parts[name] ?? {}
        return members
          .join(' ')
          .split(' ')
          .filter((member) => !(member in part))
      })
      expect(missing).toEqual([])
    })

    test('has no other member in the runtime than those named here', async () => {
      const found = await driver.object().request(({ ctx }) => {
        const namesOf = (part: object): string[] =>
          part === Object.prototype || part === null
            ? []
            : [...Object.getOwnPropertyNames(part), ...namesOf(Object.getPrototypeOf(part))]
        return {
          ctx: namesOf(ctx),
          'ctx.storage': namesOf(ctx.storage),
          'ctx.storage.kv': namesOf(ctx.storage.kv),
          'ctx.storage.sql': namesOf(ctx.storage.sql),
        }
      })
      for (const [name, names] of Object.entries(found)) {
        const known = new Set(['constructor', 'container', ...(SURFACE[name] ?? []).join(' ').split(' ')])
        expect(names.filter((member) => !known.has(member))).toEqual([])
      }
    })

    test('of an id: it equals itself, and is known by its name', async () => {
      const results = await driver
        .object()
        .request(({ ctx: { id } }) => [id.equals(id), typeof id.name, String(id)])
      expect(results).toEqual([true, 'string', expect.stringMatching(/./)])
    })

    test('of a cursor: it is an instance of sql.Cursor', async () => {
      const results = await driver
        .object()
        .request(({ sql }) => [sql.exec('SELECT 1') instanceof sql.Cursor, String(sql.exec('SELECT 1'))])
      expect(results).toEqual([true, '[object Cursor]'])
    })
  })
}
