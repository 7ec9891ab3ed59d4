/** An application that provides the sample services with real databases. */
@NullMarked
package tern.sample.provider;

import org.jspecify.annotations.NullMarked;
