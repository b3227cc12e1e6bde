/** The time that a method has, and the hooks around it. */
import type { Exchange } from '../exchange/exchange.ts'

/** Gives what is called from now on the time of a method to its first byte. */
export function allowMethod(exchange: Exchange): void {
	exchange.allow(exchange.action?.streaming?.handlerTimeout ?? exchange.app.handlerTimeout, 'unavailable')
}

/** Gives it only where no time of a method runs yet: what is behind a method has what is left of that. */
export function allowRest(exchange: Exchange): void {
	if (exchange.due === Number.POSITIVE_INFINITY || exchange.late === 'request_timeout') allowMethod(exchange)
}
