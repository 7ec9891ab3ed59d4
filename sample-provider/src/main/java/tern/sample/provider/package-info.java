/** An application that offers the sample services; each talks to real stores. */
@NullMarked
package tern.sample.provider;

import org.jspecify.annotations.NullMarked;
