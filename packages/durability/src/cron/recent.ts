/**
 * The value kept for `key`, made if there is none; of more than `max` values the least recently used one is let go.
 * A `make` that throws leaves nothing behind.
 */
export function recent<Value>(cache: Map<string, Value>, max: number, key: string, make: () => Value): Value {
  const value = cache.get(key) ?? make()
  cache.delete(key)
  cache.set(key, value)
  const [oldest] = cache.keys()
  if (cache.size > max && oldest !== undefined) cache.delete(oldest)
  return value
}
