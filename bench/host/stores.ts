import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Where objects are stored. */
export type StoreName = 'disk' | 'memory'

const MEMORY = '/dev/shm'

/**
 * A commit to a disk takes longer than all the rest of a run, and longer still when somebody else writes. In memory,
 * where the system has such a folder, what remains is the code.
 */
export const STORES: Readonly<Partial<Record<StoreName, string>>> = {
  disk: tmpdir(),
  ...(existsSync(MEMORY) && { memory: MEMORY }),
}

/** The one for all that is not about the disk. */
export const QUIET_STORE: string = STORES.memory ?? tmpdir()
