import { describe, expect, test } from 'vitest'
import { RecentFailures } from './recent-failures.ts'
import type { RunDescription } from './types.ts'

const run = (id: string, status = 'errored', error: string | null = 'no') =>
  ({ id, status, error }) as RunDescription

describe('failures of runs', () => {
  test('say what failed, and the status where nothing was said', () => {
    const failures = new RecentFailures()
    failures.add([run('a'), run('b', 'interrupted', null), run('c', 'complete', null)])
    expect(['a', 'b', 'c', 'd'].map((id) => failures.of(id))).toEqual(['no', 'interrupted', null, null])
    failures.add([run('a', 'complete', null)])
    expect(failures.of('a')).toBeNull()
  })

  test('are kept only for the last runs of schedules, and those read last', () => {
    const failures = new RecentFailures()
    for (let look = 0; look < 1_000; look += 1) {
      failures.add(Array.from({ length: 10 }, (_, index) => run(`run-${look}-${index}`)))
      failures.keepOnly(new Set(['run-0-5', null]))
    }
    expect(failures.size).toBe(11)
    expect(failures.of('run-0-5')).toBe('no')
    expect(failures.of('run-999-9')).toBe('no')
  })
})
