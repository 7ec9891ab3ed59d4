/** The contract that the sample applications share: three services and the values that travel. */
@NullMarked
package tern.sample.api;

import org.jspecify.annotations.NullMarked;
