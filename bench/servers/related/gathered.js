/** The expert's server, with reads in the same turn of the event loop batched by DataLoader. */
import DataLoader from 'dataloader'
import { serve } from './expert.js'

export async function start(app) {
	return serve(app, ({ readAll }) => {
		const options = { cache: false, maxBatchSize: 100, batchScheduleFn: setImmediate }
		const loader = new DataLoader(readAll, options)
		return (id) => loader.load(id)
	})
}
