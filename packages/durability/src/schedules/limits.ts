/** Every number that bounds user-created schedules, with its unit and the reason for it. */

/** UTF-16 units of a schedule's id. With `sched:` and a time it is a run's id, and a key of every table. */
export const MAX_ID_LENGTH = 200
/** UTF-16 units of the name of a workflow or of a namespace. */
export const MAX_NAME_LENGTH = 200
/** UTF-16 units of the id of a run that a caller names. */
export const MAX_RUN_ID_LENGTH = 300
/** Bytes of UTF-8 of an input as JSON. A Workflow's params may be larger; a table of 100,000 inputs should not. */
export const MAX_INPUT_BYTES: number = 128 * 1024
/** Bytes of UTF-8 of the search attributes as JSON. */
export const MAX_SEARCH_ATTRIBUTES_BYTES: number = 8 * 1024
/** Bytes of UTF-8 of a note. */
export const MAX_NOTE_BYTES: number = 4 * 1024
/** Tags of one schedule, and UTF-16 units of each. */
export const MAX_TAGS = 64
export const MAX_TAG_LENGTH = 256
/** UTF-16 units of a concurrency key. */
export const MAX_KEY_LENGTH = 256

/** `list` and `listRuns`: rows of a page, by default and at most; rows that `offset` may leave out. */
export const DEFAULT_PAGE = 100
export const MAX_PAGE = 1_000
export const MAX_OFFSET = 100_000
/** UTF-16 units of the JSON of a page that an object answers to another Worker; one that would be longer ends before. An RPC takes 32 MiB. */
export const MAX_ANSWERED_PAGE: number = 4 * 1024 * 1024
/** Windows that one `preview` shows at most, and by default. */
export const MAX_PREVIEW = 1_000
export const DEFAULT_PREVIEW = 10

/** ms. Longest `every` and `jitter`: ten years. */
export const MAX_EVERY_MS: number = 10 * 365 * 24 * 60 * 60_000

/** Windows of which the shortest gap must be longer than the jitter. */
export const JITTER_GAPS = 10

/** Rows of one due query. */
export const DUE_BATCH = 100
/** Batches that one pass of the object's alarm fires before it lets others have a turn. */
export const BATCHES_PER_PASS = 10
/** Starts outside the object that one tick has open at once. */
export const OUTSIDE_STARTS = 6
/** ms after which a start without an answer gives its place back. */
export const START_PLACE_MS = 1_000
/** Of `startTimeoutMs`: a fire that takes longer is nobody's any more. By the next minute's tick it is taken up again. */
export const LONGEST_FIRE = 1.5
/** ms of `startTimeoutMs`, a tenth of it at most, in which a tick writes down which starts had no answer. */
export const RECORDING_MS = 1_000
/** ms in which a Workflow has to say how an instance is doing. */
export const STATUS_TIMEOUT_MS = 5_000
/** ms. The longest wait between two attempts at one window. */
export const MAX_START_RETRY_MS = 15_000

/** Finished runs, and decisions, that are kept for each schedule. */
export const KEPT_RUNS = 50
export const KEPT_DECISIONS = 50
/** ms. What is kept of schedules that are gone, and of runs without one. */
export const RUN_AGE_MS: number = 30 * 24 * 60 * 60_000
/** Expired runs that are removed at once, and ms between two looks when there were fewer. */
export const EXPIRED_BATCH = 100
export const EXPIRED_EVERY_MS: number = 60 * 60_000
/** ms between two looks for starts whose engine died. */
export const SWEEP_EVERY_MS = 60_000
/** Waiting runs that are read at once: whoever starts the next one reads those that run already over again. */
export const READ_AHEAD = 25

/** UTF-16 units of a stored error. */
export const MAX_ERROR_LENGTH = 1_000

/** Times that a verb reads and writes again when others write the same row in between. */
export const MAX_WRITE_TRIES = 20

/** Workflow instances that are asked for their status when a concurrency limit seems reached, and when a page is listed. */
export const ASKED_INSTANCES = 10
/** Oldest runs of a Workflow among which those are that a start asks for, so that many that go on do not hide one that ended. */
export const ASKED_OLDEST = 25
