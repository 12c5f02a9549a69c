import { describe, expect, test } from 'vitest'
import { saveDefinition } from './save-definition.ts'
import { described } from './support/described.ts'

function setup(revision: number | null) {
  const asked: string[] = []
  const store = {
    read: async () => {
      asked.push('read')
      return revision === null ? null : described('a', { revision })
    },
    write: async (isNew: boolean) => {
      asked.push(isNew ? 'create' : 'replace')
      return described('a', { revision: (revision ?? 0) + 1 })
    },
  }
  return { asked, store }
}

describe('saving a form', () => {
  test('replaces the revision that it was opened with', async () => {
    const { asked, store } = setup(3)
    expect(await saveDefinition(store, 3)).toEqual({
      kind: 'saved',
      schedule: described('a', { revision: 4 }),
    })
    expect(asked).toEqual(['read', 'replace'])
  })

  test('does not replace what somebody else has saved meanwhile, until that is wanted', async () => {
    const { asked, store } = setup(4)
    expect(await saveDefinition(store, 3)).toEqual({ kind: 'changed', revision: 4 })
    expect(asked).toEqual(['read'])
    expect(await saveDefinition(store, 4)).toMatchObject({ kind: 'saved' })
  })

  test('does not create again what somebody else has deleted, until that is wanted', async () => {
    const { asked, store } = setup(null)
    expect(await saveDefinition(store, 3)).toEqual({ kind: 'changed', revision: null })
    expect(await saveDefinition(store, null)).toMatchObject({ kind: 'saved' })
    expect(asked).toEqual(['read', 'read', 'create'])
  })

  test('of a new schedule never replaces one', async () => {
    const { asked, store } = setup(1)
    await saveDefinition(store, 'new')
    expect(asked).toEqual(['create'])
  })
})
