import { describe, expect, test } from 'vitest'
import { comparedWithLoop, interleaved } from './interleaved.ts'
import { quantile, summaryOf } from './statistics.ts'

describe('a summary', () => {
  test('has the middle, and the bounds of the middle half', () => {
    expect(summaryOf([5, 1, 3, 2, 4])).toEqual({ median: 3, q1: 2, q3: 4, samples: 5 })
  })

  test('takes the middle between two samples', () => {
    expect(quantile([1, 2], 0.5)).toBe(1.5)
  })

  test('of nothing is no number', () => {
    expect(quantile([], 0.5)).toBeNaN()
  })
})

describe('rounds', () => {
  test('take turns from the first to the last and back, and those of the warm-up do not count', async () => {
    const order: string[] = []
    const samples = await interleaved(
      ['one', 'other'],
      { rounds: 2, warmUp: 1, progress: () => {}, what: '' },
      async (name, round) => {
        order.push(`${name} ${round}`)
        return { cpuUs: round, wallUs: round }
      },
    )
    expect(order).toEqual(['one 0', 'other 0', 'other 1', 'one 1', 'one 2', 'other 2'])
    expect(samples.one.map(({ cpuUs }) => cpuUs)).toEqual([1, 2])
  })

  test('are compared one by one: what a round had to bear falls on both', () => {
    const took = (cpuUs: number) => ({ cpuUs, wallUs: cpuUs })
    const { own } = comparedWithLoop({ own: [20, 200, 2].map(took), loop: [10, 100, 1].map(took) }, 'loop')
    expect(own.cpuRatio).toEqual({ median: 2, q1: 2, q3: 2, samples: 3 })
  })
})
