/** Examples of the kinds of types in docs/types.md, written as an application would write them. */
package com.example.types;
