/** The platform's objects insist on being called on themselves: everything not replaced is bound to the original. */
export function forwarding<T extends object>(target: T, replaced: object): T {
  return new Proxy(target, {
    get(original, key) {
      if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key)
      const value: unknown = Reflect.get(original, key)
      return typeof value === 'function' ? value.bind(original) : value
    },
  })
}

/** A `ctx` like the given one, but for some members of its storage. */
export function withStorage(
  ctx: DurableObjectState,
  replace: (storage: DurableObjectStorage) => Partial<DurableObjectStorage>,
): DurableObjectState {
  return forwarding(ctx, { storage: forwarding(ctx.storage, replace(ctx.storage)) })
}
