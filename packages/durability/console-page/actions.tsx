import { useEffect, useRef, useState } from 'preact/hooks'
import { api, scheduleAt } from './api.ts'
import { go } from './route.ts'
import { isSignedOut, live } from './session.ts'
import { say } from './toasts.tsx'
import type { RunDescription, ScheduleDescription } from './types.ts'

/** Does it, and says what became of it. */
async function act(what: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    say(what)
    return true
  } catch (error) {
    isSignedOut(error)
    say(error instanceof Error ? error.message : String(error), true)
    return false
  }
}

export function pause(id: string, note?: string): Promise<boolean> {
  return act(`Paused ${id}`, async () => {
    const body = note === undefined ? {} : { note }
    live.put(await api<ScheduleDescription>(`${scheduleAt(id)}/pause`, { method: 'POST', body }))
  })
}

export function resume(id: string): Promise<boolean> {
  return act(`Resumed ${id}`, async () => {
    live.put(await api<ScheduleDescription>(`${scheduleAt(id)}/resume`, { method: 'POST', body: {} }))
  })
}

export function runNow(id: string): Promise<boolean> {
  return act(`Started ${id}`, () =>
    api<RunDescription>(`${scheduleAt(id)}/trigger`, { method: 'POST', body: {} }),
  )
}

export function remove(id: string): Promise<boolean> {
  return act(`Deleted ${id}`, async () => {
    await api(scheduleAt(id), { method: 'DELETE' })
    live.remove(id)
    go({ page: 'list' })
  })
}

type Work = (event: { readonly currentTarget: HTMLElement }) => Promise<unknown>

/** Whether work that a button started is under way, and what guards it: nothing is started twice. */
export function useBusy(): readonly [boolean, (work: Work) => Work] {
  const [isBusy, setBusy] = useState(false)
  // Two clicks may come before the button is drawn again.
  const isUnderWay = useRef(false)
  const during =
    (work: Work): Work =>
    async (event) => {
      if (isUnderWay.current) return
      isUnderWay.current = true
      setBusy(true)
      try {
        await work(event)
      } finally {
        isUnderWay.current = false
        setBusy(false)
      }
    }
  return [isBusy, during]
}

/** Pause or resume, and run now. */
export function QuickActions({ schedule }: { readonly schedule: ScheduleDescription }) {
  const { id, paused } = schedule
  const [isBusy, during] = useBusy()
  const doing = (work: (id: string) => Promise<boolean>) =>
    during(async ({ currentTarget: button }) => {
      const home = button.closest<HTMLElement>('[tabindex]')
      await work(id)
      keepFocus(() => (button.isConnected ? button : home))
    })
  return (
    <span class="actions">
      <button
        type="button"
        aria-disabled={isBusy}
        aria-label={`${paused ? 'Resume' : 'Pause'} ${id}`}
        onClick={doing(paused ? resume : pause)}
      >
        {paused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" aria-disabled={isBusy} aria-label={`Run now: ${id}`} onClick={doing(runNow)}>
        Run now
      </button>
    </span>
  )
}

/**
 * A button that was pressed may go by what it did, or move with its row: whoever uses a keyboard must not be sent to the
 * start of the page.
 */
export function keepFocus(find: () => HTMLElement | null | undefined): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) find()?.focus({ preventScroll: true })
  })
}

interface AskedProps {
  readonly label: string
  readonly title: string
  readonly text: string
  readonly confirm: string
  readonly isBad?: boolean
  /** A question for a line of text, handed to `onConfirm`. */
  readonly question?: string
  onConfirm(answer: string): Promise<boolean>
}

/** A button that asks before it acts. */
export function Asked({ label, title, text, confirm, isBad = false, question, onConfirm }: AskedProps) {
  const [isOpen, setOpen] = useState(false)
  const [answer, setAnswer] = useState('')
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  return (
    <>
      <button
        type="button"
        class={isBad ? 'bad' : undefined}
        onClick={() => {
          setAnswer('')
          setOpen(true)
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-label={title} onClose={() => setOpen(false)}>
        {isOpen && (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              setOpen(false)
              void onConfirm(answer)
            }}
          >
            <h2>{title}</h2>
            <p dir="auto">{text}</p>
            {question !== undefined && (
              <label>
                {question}
                <input type="text" value={answer} onInput={(event) => setAnswer(event.currentTarget.value)} />
              </label>
            )}
            <p class="buttons">
              <button type="button" onClick={() => setOpen(false)}>
                Cancel
              </button>
              <button type="submit" class={isBad ? 'bad primary' : 'primary'}>
                {confirm}
              </button>
            </p>
          </form>
        )}
      </dialog>
    </>
  )
}
