/**
 * The peers read the global clock. This one can be moved on, as the bench's own can; it is loaded before anything else.
 */
const RealDate = Date
let aheadMs = 0

class MovableDate extends RealDate {
  constructor(...values: []) {
    // As the original: without a value, the present.
    if (values.length === 0) super(MovableDate.now())
    else super(...values)
  }

  static override now(): number {
    return RealDate.now() + aheadMs
  }
}

globalThis.Date = MovableDate as DateConstructor

export const movableDate = {
  moveTo(at: number): void {
    aheadMs = at - RealDate.now()
  },
}
