/** A way to kill the object from inside one of its handlers, at once. */
export interface Killer {
  /** Given to `setup`: gets hold of each instance's own `ctx`. */
  readonly context: (ctx: DurableObjectState) => DurableObjectState
  /** Nothing after this call runs in the instance. */
  kill(): never
}

export function killer(): Killer {
  let current: DurableObjectState | undefined
  return {
    context: (ctx) => {
      current = ctx
      return ctx
    },
    kill() {
      current?.abort('The test killed the object')
      throw new Error('Not reached: the object was killed')
    },
  }
}
