import type { Played, Reach, Trouble } from './play.ts'

const START: Reach = { writes: 0, seams: 0 }

/**
 * Every place at which the history can be cut, or every one that comes after another crash. A crash after a write comes
 * after the commit of its turn, so the last write of a turn stands for all of them.
 */
export function crashesIn({ writes, seams, sites }: Played, after: Reach = START): Trouble[] {
  const crashes: Trouble[] = []
  for (let write = after.writes + 1; write <= writes; write += 1) {
    crashes.push({ crashAtWrite: write, when: 'before' })
    const turn = sites?.writes[write]?.turn
    const isLast = turn === undefined || turn !== sites?.writes[write + 1]?.turn
    if (isLast) crashes.push({ crashAtWrite: write, when: 'after' })
  }
  for (let seam = after.seams + 1; seam <= seams; seam += 1) crashes.push({ crashAtSeam: seam })
  return crashes
}

/** How far the history had come when it was cut as planned; `undefined` when it never was. */
export function cutAt({ deaths }: Played, crash: Trouble): Reach | undefined {
  return deaths.find(({ writes, seams }) => {
    if ('crashAtSeam' in crash) return seams === crash.crashAtSeam
    if (!('crashAtWrite' in crash)) return false
    // The rest of the turn is written before its commit, and the crash after it.
    return crash.when === 'before' ? writes === crash.crashAtWrite : writes >= crash.crashAtWrite
  })
}
