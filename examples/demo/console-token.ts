/** Printed for whoever starts the demo. A token of your own is a secret: `wrangler secret put`. */
export const CONSOLE_TOKEN = 'durability-demo-token'
