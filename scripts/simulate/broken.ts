/** A history that broke a promise: what there is to see, and the command that shows it again. */
export class PromiseBroken extends Error {
  readonly replay: string | undefined

  constructor(failure: string, replay: string | undefined) {
    super(failure)
    this.replay = replay
  }
}
