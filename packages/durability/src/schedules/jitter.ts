/**
 * The stable delay of one window, in ms in `[0, jitterMs)`: FNV-1a (32 bits) over the UTF-8 of `<id>:<window>`, mixed by
 * the finalizer of MurmurHash3, scaled to the range. It never changes: a stored schedule would move otherwise.
 */
export function jitterOf(scheduleId: string, window: number, jitterMs: number): number {
  if (jitterMs === 0) return 0
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(`${scheduleId}:${window}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = (hash ^ (hash >>> 16)) >>> 0
  return Math.floor((hash / 2 ** 32) * jitterMs)
}
