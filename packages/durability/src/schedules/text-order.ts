/** By code point, as SQLite compares text by its UTF-8 bytes: JavaScript's own order puts an emoji before a wide letter. */
export function comparedText(one: string, other: string): number {
  const ones = [...one]
  const others = [...other]
  for (let index = 0; index < Math.min(ones.length, others.length); index += 1) {
    const difference = (ones[index]?.codePointAt(0) ?? 0) - (others[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return ones.length - others.length
}
