/** What a test fails with, besides its own error, when `wrangler dev` ended meanwhile: it is then tried again. */
export const TOOL_ENDED = 'wrangler dev ended by itself'
