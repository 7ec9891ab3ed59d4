package shop;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;

/** A service with unary and streaming methods, and with parameters of many types. */
public interface Shop {

    enum Size {
        SMALL,
        LARGE
    }

    record Item(String name, BigDecimal price, Size size, List<Item> parts) implements Serializable {}

    record Page<T>(List<T> elements, int total) implements Serializable {}

    /** A bean with a property that has a different name in JSON. */
    class Order implements Serializable {
        private static final long serialVersionUID = 1L;
        private long number;
        private Map<String, Item> items = Map.of();
        private LocalDate day;
        private Instant at;
        private Duration within;
        private byte[] receipt;

        public long getNumber() {
            return number;
        }

        public void setNumber(long number) {
            this.number = number;
        }

        public Map<String, Item> getItems() {
            return items;
        }

        public void setItems(Map<String, Item> items) {
            this.items = items;
        }

        @JsonProperty("the-day")
        public LocalDate getDay() {
            return day;
        }

        public void setDay(LocalDate day) {
            this.day = day;
        }

        public Instant getAt() {
            return at;
        }

        public void setAt(Instant at) {
            this.at = at;
        }

        public Duration getWithin() {
            return within;
        }

        public void setWithin(Duration within) {
            this.within = within;
        }

        public byte[] getReceipt() {
            return receipt;
        }

        public void setReceipt(byte[] receipt) {
            this.receipt = receipt;
        }
    }

    class SoldOutException extends Exception {
        private static final long serialVersionUID = 1L;

        public SoldOutException(String message) {
            super(message);
        }
    }

    @RpcMethod(idempotent = true)
    String greet(String name);

    Order place(Order order, int times);

    List<String> sorted(List<String> names);

    Page<Item> page(int number);

    void forget();

    String large(int characters);

    String hang();

    String sell(String name) throws SoldOutException;

    String header(String name);

    Flow.Publisher<Integer> count(int to);

    Flow.Publisher<Long> endless();

    Flow.Publisher<Integer> slowly();

    CompletionStage<Integer> sum(Flow.Publisher<Integer> numbers);

    Flow.Publisher<String> echo(Flow.Publisher<String> texts);

    String overloaded(String text);

    String overloaded(int number);

    /** Both overloads of {@code similar} have the same path in a plain HTTP request. */
    String similar(Long number);

    String similar(List<Long> numbers);
}
