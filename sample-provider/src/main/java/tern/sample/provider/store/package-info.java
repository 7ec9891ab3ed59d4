/** The database, the embedded servers and the initial data. The connection pool is Druid. */
@NullMarked
package tern.sample.provider.store;

import org.jspecify.annotations.NullMarked;
