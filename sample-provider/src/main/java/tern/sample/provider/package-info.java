/** An application that provides the sample services with a real database and a real Redis. */
@NullMarked
package tern.sample.provider;

import org.jspecify.annotations.NullMarked;
