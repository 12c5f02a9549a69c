/// <reference types="node" />
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { D1Like, D1StatementLike } from '../../../src/schedules/index.node.ts'

interface FakeStatement extends D1StatementLike {
  run(): { readonly results: readonly unknown[]; readonly meta: { readonly changes: number } }
}

export interface FakeD1 extends D1Like {
  /** Reads from outside. */
  rows(query: string): readonly Record<string, unknown>[]
  close(): void
}

/** As D1 does: answers come later, a batch is one transaction, at most 100 parameters a statement. */
export function fakeD1(): FakeD1 {
  const database = new DatabaseSync(':memory:')

  const statement = (query: string, values: readonly SQLInputValue[]): FakeStatement => ({
    bind: (...bound) => statement(query, bound as SQLInputValue[]),
    run() {
      if (values.length > 100) throw new Error(`too many SQL variables: ${values.length}`)
      const prepared = database.prepare(query)
      if (/^\s*select/i.test(query)) return { results: prepared.all(...values), meta: { changes: 0 } }
      return { results: [], meta: { changes: Number(prepared.run(...values).changes) } }
    },
    async all() {
      await later()
      return this.run()
    },
  })

  return {
    prepare: (query) => statement(query, []),
    async batch(statements) {
      await later()
      database.exec('BEGIN')
      try {
        const results = statements.map((one) => (one as FakeStatement).run())
        database.exec('COMMIT')
        return results
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    rows: (query) => database.prepare(query).all(),
    close: () => database.close(),
  }
}

async function later(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve()
}
