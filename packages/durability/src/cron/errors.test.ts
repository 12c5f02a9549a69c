import { describe, expect, it } from 'vitest'
import { InvalidCronError, quote } from './errors.ts'

describe('InvalidCronError', () => {
  it('has a code, a field and a message of at most 200 characters', () => {
    const error = new InvalidCronError('invalid_field', 'hour', 'x'.repeat(500))
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'InvalidCronError', code: 'invalid_field', field: 'hour' })
    expect(error.message).toHaveLength(200)
    expect(error.message).toMatch(/x…$/)
  })

  it('quotes a value cut, on one line and without control characters', () => {
    expect(quote('60')).toBe('"60"')
    expect(quote('a\n"\u0000')).toBe('"a\\n\\"\\u0000"')
    expect(quote('9'.repeat(1_000)).length).toBeLessThan(50)
  })
})
