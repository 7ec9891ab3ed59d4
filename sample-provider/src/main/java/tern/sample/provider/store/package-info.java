/** The databases and their pools: Druid, embedded servers and the initial data. */
@NullMarked
package tern.sample.provider.store;

import org.jspecify.annotations.NullMarked;
