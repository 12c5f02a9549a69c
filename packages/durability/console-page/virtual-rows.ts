import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

interface VirtualRows {
  readonly items: readonly VirtualItem[]
  /** px of all rows. */
  readonly height: number
}

/** The rows that can be seen in a scrolling element, and a few more. */
export function useVirtualRows(
  count: number,
  scroller: () => HTMLElement | null,
  rowHeight: (index: number) => number,
): VirtualRows {
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0)
  const options = {
    count,
    getScrollElement: scroller,
    estimateSize: rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined as never),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  return { items: virtualizer.getVirtualItems(), height: virtualizer.getTotalSize() }
}
