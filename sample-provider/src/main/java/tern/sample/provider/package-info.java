/** An application that provides the sample services, using a real database and a real Redis server. */
@NullMarked
package tern.sample.provider;

import org.jspecify.annotations.NullMarked;
