const MASK = 0xffff_ffffn

/** The documented delay of a window, by whole numbers only: FNV-1a (32 bits), then the finalizer of MurmurHash3. */
export function delayByHand(id: string, window: number, jitterMs: number): number {
  let hash = 2_166_136_261n
  for (const byte of Buffer.from(`${id}:${window}`, 'utf8'))
    hash = ((hash ^ BigInt(byte)) * 16_777_619n) & MASK
  hash = ((hash ^ (hash >> 16n)) * 2_246_822_507n) & MASK
  hash = ((hash ^ (hash >> 13n)) * 3_266_489_909n) & MASK
  hash ^= hash >> 16n
  return Number((hash * BigInt(jitterMs)) >> 32n)
}
