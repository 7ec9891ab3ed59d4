package tern.rpc.load.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.function.Function;

/** Configures Gson to write dates and times as ISO 8601 strings, which Gson does not support by default. */
final class JsonText {

    private JsonText() {}

    static Gson gson() {
        return new GsonBuilder()
                .registerTypeAdapter(LocalDate.class, new IsoText<>(LocalDate::parse).nullSafe())
                .registerTypeAdapter(LocalDateTime.class, new IsoText<>(LocalDateTime::parse).nullSafe())
                .create();
    }

    private static final class IsoText<T> extends TypeAdapter<T> {

        private final Function<String, T> parser;

        IsoText(Function<String, T> parser) {
            this.parser = parser;
        }

        @Override
        public void write(JsonWriter out, T value) throws IOException {
            out.value(value.toString());
        }

        @Override
        public T read(JsonReader in) throws IOException {
            return parser.apply(in.nextString());
        }
    }
}
