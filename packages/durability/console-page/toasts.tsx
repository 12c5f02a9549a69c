import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface Toast {
  readonly key: number
  readonly text: string
  readonly isError: boolean
}

let toasts: readonly Toast[] = []
let draw: (() => void) | undefined
let keys = 0

/** Says for a while what became of an action. */
export function say(text: string, isError = false): void {
  keys += 1
  const toast = { key: keys, text, isError }
  toasts = [...toasts.slice(-3), toast]
  draw?.()
  setTimeout(() => close(toast), isError ? 12_000 : 5_000)
}

export function closeAll(): void {
  toasts = []
  draw?.()
}

function close(toast: Toast): void {
  toasts = toasts.filter((one) => one !== toast)
  draw?.()
}

/** In the top layer, so that an open popover does not cover them; said to screen readers apart from that. */
export function Toasts() {
  const box = useRef<HTMLDivElement>(null)
  const [, setCount] = useState(0)
  useEffect(() => {
    draw = () => setCount((count) => count + 1)
    return () => {
      draw = undefined
    }
  }, [])
  useLayoutEffect(() => {
    if (box.current?.matches(':popover-open')) box.current.hidePopover()
    if (toasts.length > 0) box.current?.showPopover()
  }, [toasts])
  return (
    <>
      <p class="unseen" role="status">
        {toasts.at(-1)?.text}
      </p>
      <div ref={box} class="toasts" popover="manual">
        {toasts.map((toast) => (
          <div key={toast.key} class={toast.isError ? 'toast bad' : 'toast'}>
            <span dir="auto">{toast.text}</span>
            <button type="button" class="plain" aria-label="Close the message" onClick={() => close(toast)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </>
  )
}
