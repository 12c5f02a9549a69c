/** Something that happened to a schedule, as it is printed and streamed. Instants are ISO 8601 in UTC. */
export interface DemoEvent {
  readonly type: 'tick' | 'run' | 'outcome' | 'retry' | 'dead_lettered' | 'stuck'
  readonly schedule: string
  readonly at: string
  /** The nominal time of the run it is about. */
  readonly scheduledTime: string
  readonly version: number
  readonly idempotencyKey: string
  /** The rest, for people. */
  readonly text: string
}

/** Streams that may follow one schedule at a time. */
const MAX_FOLLOWERS = 20

/** Events a follower may be behind before it is let go. */
const MAX_BEHIND = 100

const encoder = new TextEncoder()

/** Everybody who follows one schedule, and the terminal. Live only: what nobody followed is not kept. */
export class Feed {
  readonly #followers = new Set<Follower>()

  /** A stream of server-sent events, or `undefined` when there are too many already. */
  follow(): ReadableStream<Uint8Array> | undefined {
    if (this.#followers.size >= MAX_FOLLOWERS) return undefined
    const { readable, writable } = new IdentityTransformStream()
    const follower = { writer: writable.getWriter(), behind: 0 }
    this.#followers.add(follower)
    follower.writer.closed.catch(() => this.#followers.delete(follower))
    // Sent at once, so that the client sees the stream open.
    this.#send(follower, ': following\n\n')
    return readable
  }

  publish(event: DemoEvent): void {
    const { at, type, schedule, text } = event
    console.log(`${at.slice(11, 23)}  ${type.padEnd(7)}  ${schedule}  ${text}`)
    const message = `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
    for (const follower of this.#followers) this.#send(follower, message)
  }

  /** Never waited for: a reader that is gone or does not keep up holds up nobody, and must not fill the memory. */
  #send(follower: Follower, message: string): void {
    const letGo = () => this.#followers.delete(follower)
    if (follower.behind >= MAX_BEHIND) {
      letGo()
      follower.writer.abort().catch(letGo)
      return
    }
    follower.behind += 1
    follower.writer.write(encoder.encode(message)).then(() => {
      follower.behind -= 1
    }, letGo)
  }
}

interface Follower {
  readonly writer: WritableStreamDefaultWriter<Uint8Array>
  /** Events it was sent and has not read. */
  behind: number
}
