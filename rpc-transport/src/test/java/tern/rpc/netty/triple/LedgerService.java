package tern.rpc.netty.triple;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;

/** An implementation of a generated gRPC service, written in the same way as in applications that use gRPC. */
class LedgerService extends LedgerGrpc.LedgerImplBase {

    @Override
    public void post(Entry entry, StreamObserver<Receipt> answer) {
        if (entry.getAmount() == 0) {
            answer.onError(Status.INVALID_ARGUMENT
                    .withDescription("nothing to post to " + entry.getAccount())
                    .asRuntimeException());
            return;
        }
        answer.onNext(receipt(1, entry.getAmount()));
        answer.onCompleted();
    }

    @Override
    public StreamObserver<Entry> import_(StreamObserver<Receipt> answer) {
        return new StreamObserver<>() {
            private int entries;
            private long balance;

            @Override
            public void onNext(Entry entry) {
                entries++;
                balance += entry.getAmount();
            }

            @Override
            public void onError(Throwable failure) {
                // the caller has cancelled the call, so there is nothing to do
            }

            @Override
            public void onCompleted() {
                answer.onNext(receipt(entries, balance));
                answer.onCompleted();
            }
        };
    }

    @Override
    public void statement(Period period, StreamObserver<Entry> answers) {
        for (int i = 1; i <= period.getEntries(); i++) {
            answers.onNext(Entry.newBuilder()
                    .setAccount(period.getAccount())
                    .setAmount(i)
                    .build());
        }
        answers.onCompleted();
    }

    @Override
    public StreamObserver<Entry> reconcile(StreamObserver<Receipt> answers) {
        return new StreamObserver<>() {
            private int entries;

            @Override
            public void onNext(Entry entry) {
                answers.onNext(receipt(++entries, entry.getAmount()));
            }

            @Override
            public void onError(Throwable failure) {
                // the caller has cancelled the call, so there is nothing to do
            }

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        };
    }

    static Receipt receipt(int entries, long balance) {
        return Receipt.newBuilder().setEntries(entries).setBalance(balance).build();
    }

    static Entry entry(String account, long amount) {
        return Entry.newBuilder().setAccount(account).setAmount(amount).build();
    }
}
