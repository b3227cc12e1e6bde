/** The view: the `this` of one request. It carries the exchange, which every helper reads through it. */
import type { Exchange } from '../exchange/exchange.ts'

const EXCHANGE: unique symbol = Symbol('verbena.exchange')

interface View {
	[EXCHANGE]?: Exchange
}

/**
 * A function that makes views of one mount. `layer` is their prototype: the mount's own facts over the
 * shared, frozen handler.
 */
export function viewsOf(layer: object): (exchange: Exchange) => object {
	// A constructor rather than Object.create: its instances get their slot at once.
	function View(this: View, exchange: Exchange): void {
		this[EXCHANGE] = exchange
	}
	View.prototype = layer
	const construct = View as unknown as new (exchange: Exchange) => object
	return (exchange) => new construct(exchange)
}

/** Makes one view a request, however often it is asked for: what one hook sets on it, the next must find. */
export function viewOnce(make: (exchange: Exchange) => object): (exchange: Exchange) => object {
	return (exchange) => {
		exchange.view ??= make(exchange)
		return exchange.view
	}
}

/**
 * Makes an instance that a factory has made the view of one request.
 *
 * @throws TypeError when it is one already: its state would be shared by two requests
 */
export function becomeView(instance: object, exchange: Exchange): object {
	const view = instance as View
	if (view[EXCHANGE] !== undefined || Object.isFrozen(instance)) {
		throw new TypeError(
			`the factory has returned the same ${instance.constructor.name} twice: return a new one for each request, or mount the instance itself`,
		)
	}
	view[EXCHANGE] = exchange
	return view
}

/**
 * The exchange behind a view.
 *
 * @throws TypeError when it is no view, naming the member that was used
 */
export function exchangeOf(view: object, member: string): Exchange {
	const exchange = (view as View)[EXCHANGE]
	if (exchange === undefined) throw outsideRequest(view, member)
	return exchange
}

/** The error of a member that only means something while a request is served. */
export function outsideRequest(view: object, member: string): TypeError {
	return new TypeError(
		`this.${member} of ${view.constructor.name} was used outside of a request: it works in the methods that a request calls, whose \`this\` is made for that request`,
	)
}
