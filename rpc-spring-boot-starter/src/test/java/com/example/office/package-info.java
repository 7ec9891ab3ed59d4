/** An application into which tests inject faults while it serves calls. */
@NullMarked
package com.example.office;

import org.jspecify.annotations.NullMarked;
