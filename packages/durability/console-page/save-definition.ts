import type { ScheduleDescription } from './types.ts'

export interface DefinitionStore {
  /** `null` when it is gone. */
  read(): Promise<ScheduleDescription | null>
  /** @param isNew Refuse to replace what is there. */
  write(isNew: boolean): Promise<ScheduleDescription>
}

/** The revision that a form may replace; `null` for none: there is no such schedule. */
export type Revision = number | null

export type Saved =
  | { readonly kind: 'saved'; readonly schedule: ScheduleDescription }
  /** Nothing was written: the viewer decides whether to replace this revision. */
  | { readonly kind: 'changed'; readonly revision: Revision }

/**
 * Saves what a form holds, unless somebody else has saved another revision since it was opened. That is looked at before
 * writing, not with it: what others save between the two is replaced unseen.
 */
export async function saveDefinition(store: DefinitionStore, expected: Revision | 'new'): Promise<Saved> {
  if (expected !== 'new') {
    const revision = (await store.read())?.revision ?? null
    if (revision !== expected) return { kind: 'changed', revision }
  }
  return { kind: 'saved', schedule: await store.write(expected === 'new' || expected === null) }
}
