/** The database with its Druid connection pool, the embedded servers, and the initial data. */
@NullMarked
package tern.sample.provider.store;

import org.jspecify.annotations.NullMarked;
