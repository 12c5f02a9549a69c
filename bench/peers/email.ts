/** workerd has this module only where an account can send mail; nothing here does. */
export class EmailMessage {}
