/** The stores and their pools: Druid, embedded servers, and what is in them at the start. */
@NullMarked
package tern.sample.provider.store;

import org.jspecify.annotations.NullMarked;
