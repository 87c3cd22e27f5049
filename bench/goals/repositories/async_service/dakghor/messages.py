"""All messages that we send, by name. Marketing edits the texts here; programmers, please keep out of them."""
from dataclasses import dataclass

KINDS = {}


def kind(name):
    def keep(made):
        KINDS[name] = made
        return made

    return keep


@kind("order_made")
@dataclass
class OrderMade:
    name: str
    order: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, order {self.order}: made"
        return f"Dear {self.name},\nyour order {self.order}: we have it now.\n\nPonno"


@kind("order_paid")
@dataclass
class OrderPaid:
    name: str
    order: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, order {self.order}: paid"
        return f"Dear {self.name},\nyour order {self.order}: it is paid, thank you.\n\nPonno"


@kind("order_changed")
@dataclass
class OrderChanged:
    name: str
    order: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, order {self.order}: changed"
        return f"Dear {self.name},\nyour order {self.order}: it was changed.\n\nPonno"


@kind("order_lost")
@dataclass
class OrderLost:
    name: str
    order: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, order {self.order}: lost"
        return f"Dear {self.name},\nyour order {self.order}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("order_late")
@dataclass
class OrderLate:
    name: str
    order: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, order {self.order}: late"
        return f"Dear {self.name},\nyour order {self.order}: it comes later than we said.\n\nPonno"


@kind("order_closed")
@dataclass
class OrderClosed:
    name: str
    order: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, order {self.order}: closed"
        return f"Dear {self.name},\nyour order {self.order}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("parcel_made")
@dataclass
class ParcelMade:
    name: str
    parcel: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, parcel {self.parcel}: made"
        return f"Dear {self.name},\nyour parcel {self.parcel}: we have it now.\n\nPonno"


@kind("parcel_paid")
@dataclass
class ParcelPaid:
    name: str
    parcel: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, parcel {self.parcel}: paid"
        return f"Dear {self.name},\nyour parcel {self.parcel}: it is paid, thank you.\n\nPonno"


@kind("parcel_changed")
@dataclass
class ParcelChanged:
    name: str
    parcel: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, parcel {self.parcel}: changed"
        return f"Dear {self.name},\nyour parcel {self.parcel}: it was changed.\n\nPonno"


@kind("parcel_lost")
@dataclass
class ParcelLost:
    name: str
    parcel: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, parcel {self.parcel}: lost"
        return f"Dear {self.name},\nyour parcel {self.parcel}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("parcel_late")
@dataclass
class ParcelLate:
    name: str
    parcel: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, parcel {self.parcel}: late"
        return f"Dear {self.name},\nyour parcel {self.parcel}: it comes later than we said.\n\nPonno"


@kind("parcel_closed")
@dataclass
class ParcelClosed:
    name: str
    parcel: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, parcel {self.parcel}: closed"
        return f"Dear {self.name},\nyour parcel {self.parcel}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("invoice_made")
@dataclass
class InvoiceMade:
    name: str
    invoice: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, invoice {self.invoice}: made"
        return f"Dear {self.name},\nyour invoice {self.invoice}: we have it now.\n\nPonno"


@kind("invoice_paid")
@dataclass
class InvoicePaid:
    name: str
    invoice: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, invoice {self.invoice}: paid"
        return f"Dear {self.name},\nyour invoice {self.invoice}: it is paid, thank you.\n\nPonno"


@kind("invoice_changed")
@dataclass
class InvoiceChanged:
    name: str
    invoice: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, invoice {self.invoice}: changed"
        return f"Dear {self.name},\nyour invoice {self.invoice}: it was changed.\n\nPonno"


@kind("invoice_lost")
@dataclass
class InvoiceLost:
    name: str
    invoice: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, invoice {self.invoice}: lost"
        return f"Dear {self.name},\nyour invoice {self.invoice}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("invoice_late")
@dataclass
class InvoiceLate:
    name: str
    invoice: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, invoice {self.invoice}: late"
        return f"Dear {self.name},\nyour invoice {self.invoice}: it comes later than we said.\n\nPonno"


@kind("invoice_closed")
@dataclass
class InvoiceClosed:
    name: str
    invoice: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, invoice {self.invoice}: closed"
        return f"Dear {self.name},\nyour invoice {self.invoice}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("refund_made")
@dataclass
class RefundMade:
    name: str
    refund: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, refund {self.refund}: made"
        return f"Dear {self.name},\nyour refund {self.refund}: we have it now.\n\nPonno"


@kind("refund_paid")
@dataclass
class RefundPaid:
    name: str
    refund: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, refund {self.refund}: paid"
        return f"Dear {self.name},\nyour refund {self.refund}: it is paid, thank you.\n\nPonno"


@kind("refund_changed")
@dataclass
class RefundChanged:
    name: str
    refund: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, refund {self.refund}: changed"
        return f"Dear {self.name},\nyour refund {self.refund}: it was changed.\n\nPonno"


@kind("refund_lost")
@dataclass
class RefundLost:
    name: str
    refund: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, refund {self.refund}: lost"
        return f"Dear {self.name},\nyour refund {self.refund}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("refund_late")
@dataclass
class RefundLate:
    name: str
    refund: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, refund {self.refund}: late"
        return f"Dear {self.name},\nyour refund {self.refund}: it comes later than we said.\n\nPonno"


@kind("refund_closed")
@dataclass
class RefundClosed:
    name: str
    refund: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, refund {self.refund}: closed"
        return f"Dear {self.name},\nyour refund {self.refund}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("ticket_made")
@dataclass
class TicketMade:
    name: str
    ticket: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, ticket {self.ticket}: made"
        return f"Dear {self.name},\nyour ticket {self.ticket}: we have it now.\n\nPonno"


@kind("ticket_paid")
@dataclass
class TicketPaid:
    name: str
    ticket: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, ticket {self.ticket}: paid"
        return f"Dear {self.name},\nyour ticket {self.ticket}: it is paid, thank you.\n\nPonno"


@kind("ticket_changed")
@dataclass
class TicketChanged:
    name: str
    ticket: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, ticket {self.ticket}: changed"
        return f"Dear {self.name},\nyour ticket {self.ticket}: it was changed.\n\nPonno"


@kind("ticket_lost")
@dataclass
class TicketLost:
    name: str
    ticket: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, ticket {self.ticket}: lost"
        return f"Dear {self.name},\nyour ticket {self.ticket}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("ticket_late")
@dataclass
class TicketLate:
    name: str
    ticket: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, ticket {self.ticket}: late"
        return f"Dear {self.name},\nyour ticket {self.ticket}: it comes later than we said.\n\nPonno"


@kind("ticket_closed")
@dataclass
class TicketClosed:
    name: str
    ticket: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, ticket {self.ticket}: closed"
        return f"Dear {self.name},\nyour ticket {self.ticket}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("account_made")
@dataclass
class AccountMade:
    name: str
    account: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, account {self.account}: made"
        return f"Dear {self.name},\nyour account {self.account}: we have it now.\n\nPonno"


@kind("account_paid")
@dataclass
class AccountPaid:
    name: str
    account: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, account {self.account}: paid"
        return f"Dear {self.name},\nyour account {self.account}: it is paid, thank you.\n\nPonno"


@kind("account_changed")
@dataclass
class AccountChanged:
    name: str
    account: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, account {self.account}: changed"
        return f"Dear {self.name},\nyour account {self.account}: it was changed.\n\nPonno"


@kind("account_lost")
@dataclass
class AccountLost:
    name: str
    account: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, account {self.account}: lost"
        return f"Dear {self.name},\nyour account {self.account}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("account_late")
@dataclass
class AccountLate:
    name: str
    account: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, account {self.account}: late"
        return f"Dear {self.name},\nyour account {self.account}: it comes later than we said.\n\nPonno"


@kind("account_closed")
@dataclass
class AccountClosed:
    name: str
    account: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, account {self.account}: closed"
        return f"Dear {self.name},\nyour account {self.account}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("address_made")
@dataclass
class AddressMade:
    name: str
    address: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, address {self.address}: made"
        return f"Dear {self.name},\nyour address {self.address}: we have it now.\n\nPonno"


@kind("address_paid")
@dataclass
class AddressPaid:
    name: str
    address: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, address {self.address}: paid"
        return f"Dear {self.name},\nyour address {self.address}: it is paid, thank you.\n\nPonno"


@kind("address_changed")
@dataclass
class AddressChanged:
    name: str
    address: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, address {self.address}: changed"
        return f"Dear {self.name},\nyour address {self.address}: it was changed.\n\nPonno"


@kind("address_lost")
@dataclass
class AddressLost:
    name: str
    address: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, address {self.address}: lost"
        return f"Dear {self.name},\nyour address {self.address}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("address_late")
@dataclass
class AddressLate:
    name: str
    address: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, address {self.address}: late"
        return f"Dear {self.name},\nyour address {self.address}: it comes later than we said.\n\nPonno"


@kind("address_closed")
@dataclass
class AddressClosed:
    name: str
    address: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, address {self.address}: closed"
        return f"Dear {self.name},\nyour address {self.address}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("wallet_made")
@dataclass
class WalletMade:
    name: str
    wallet: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, wallet {self.wallet}: made"
        return f"Dear {self.name},\nyour wallet {self.wallet}: we have it now.\n\nPonno"


@kind("wallet_paid")
@dataclass
class WalletPaid:
    name: str
    wallet: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, wallet {self.wallet}: paid"
        return f"Dear {self.name},\nyour wallet {self.wallet}: it is paid, thank you.\n\nPonno"


@kind("wallet_changed")
@dataclass
class WalletChanged:
    name: str
    wallet: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, wallet {self.wallet}: changed"
        return f"Dear {self.name},\nyour wallet {self.wallet}: it was changed.\n\nPonno"


@kind("wallet_lost")
@dataclass
class WalletLost:
    name: str
    wallet: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, wallet {self.wallet}: lost"
        return f"Dear {self.name},\nyour wallet {self.wallet}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("wallet_late")
@dataclass
class WalletLate:
    name: str
    wallet: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, wallet {self.wallet}: late"
        return f"Dear {self.name},\nyour wallet {self.wallet}: it comes later than we said.\n\nPonno"


@kind("wallet_closed")
@dataclass
class WalletClosed:
    name: str
    wallet: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, wallet {self.wallet}: closed"
        return f"Dear {self.name},\nyour wallet {self.wallet}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("coupon_made")
@dataclass
class CouponMade:
    name: str
    coupon: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, coupon {self.coupon}: made"
        return f"Dear {self.name},\nyour coupon {self.coupon}: we have it now.\n\nPonno"


@kind("coupon_paid")
@dataclass
class CouponPaid:
    name: str
    coupon: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, coupon {self.coupon}: paid"
        return f"Dear {self.name},\nyour coupon {self.coupon}: it is paid, thank you.\n\nPonno"


@kind("coupon_changed")
@dataclass
class CouponChanged:
    name: str
    coupon: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, coupon {self.coupon}: changed"
        return f"Dear {self.name},\nyour coupon {self.coupon}: it was changed.\n\nPonno"


@kind("coupon_lost")
@dataclass
class CouponLost:
    name: str
    coupon: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, coupon {self.coupon}: lost"
        return f"Dear {self.name},\nyour coupon {self.coupon}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("coupon_late")
@dataclass
class CouponLate:
    name: str
    coupon: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, coupon {self.coupon}: late"
        return f"Dear {self.name},\nyour coupon {self.coupon}: it comes later than we said.\n\nPonno"


@kind("coupon_closed")
@dataclass
class CouponClosed:
    name: str
    coupon: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, coupon {self.coupon}: closed"
        return f"Dear {self.name},\nyour coupon {self.coupon}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("product_made")
@dataclass
class ProductMade:
    name: str
    product: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, product {self.product}: made"
        return f"Dear {self.name},\nyour product {self.product}: we have it now.\n\nPonno"


@kind("product_paid")
@dataclass
class ProductPaid:
    name: str
    product: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, product {self.product}: paid"
        return f"Dear {self.name},\nyour product {self.product}: it is paid, thank you.\n\nPonno"


@kind("product_changed")
@dataclass
class ProductChanged:
    name: str
    product: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, product {self.product}: changed"
        return f"Dear {self.name},\nyour product {self.product}: it was changed.\n\nPonno"


@kind("product_lost")
@dataclass
class ProductLost:
    name: str
    product: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, product {self.product}: lost"
        return f"Dear {self.name},\nyour product {self.product}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("product_late")
@dataclass
class ProductLate:
    name: str
    product: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, product {self.product}: late"
        return f"Dear {self.name},\nyour product {self.product}: it comes later than we said.\n\nPonno"


@kind("product_closed")
@dataclass
class ProductClosed:
    name: str
    product: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, product {self.product}: closed"
        return f"Dear {self.name},\nyour product {self.product}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("review_made")
@dataclass
class ReviewMade:
    name: str
    review: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, review {self.review}: made"
        return f"Dear {self.name},\nyour review {self.review}: we have it now.\n\nPonno"


@kind("review_paid")
@dataclass
class ReviewPaid:
    name: str
    review: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, review {self.review}: paid"
        return f"Dear {self.name},\nyour review {self.review}: it is paid, thank you.\n\nPonno"


@kind("review_changed")
@dataclass
class ReviewChanged:
    name: str
    review: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, review {self.review}: changed"
        return f"Dear {self.name},\nyour review {self.review}: it was changed.\n\nPonno"


@kind("review_lost")
@dataclass
class ReviewLost:
    name: str
    review: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, review {self.review}: lost"
        return f"Dear {self.name},\nyour review {self.review}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("review_late")
@dataclass
class ReviewLate:
    name: str
    review: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, review {self.review}: late"
        return f"Dear {self.name},\nyour review {self.review}: it comes later than we said.\n\nPonno"


@kind("review_closed")
@dataclass
class ReviewClosed:
    name: str
    review: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, review {self.review}: closed"
        return f"Dear {self.name},\nyour review {self.review}: it is closed. Write to us if that is wrong.\n\nPonno"


@kind("transfer_made")
@dataclass
class TransferMade:
    name: str
    transfer: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, transfer {self.transfer}: made"
        return f"Dear {self.name},\nyour transfer {self.transfer}: we have it now.\n\nPonno"


@kind("transfer_paid")
@dataclass
class TransferPaid:
    name: str
    transfer: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, transfer {self.transfer}: paid"
        return f"Dear {self.name},\nyour transfer {self.transfer}: it is paid, thank you.\n\nPonno"


@kind("transfer_changed")
@dataclass
class TransferChanged:
    name: str
    transfer: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, transfer {self.transfer}: changed"
        return f"Dear {self.name},\nyour transfer {self.transfer}: it was changed.\n\nPonno"


@kind("transfer_lost")
@dataclass
class TransferLost:
    name: str
    transfer: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, transfer {self.transfer}: lost"
        return f"Dear {self.name},\nyour transfer {self.transfer}: it got lost, we are sorry. We call you today.\n\nPonno"


@kind("transfer_late")
@dataclass
class TransferLate:
    name: str
    transfer: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, transfer {self.transfer}: late"
        return f"Dear {self.name},\nyour transfer {self.transfer}: it comes later than we said.\n\nPonno"


@kind("transfer_closed")
@dataclass
class TransferClosed:
    name: str
    transfer: int
    language: str = "en"

    def text(self):
        if self.language == "bn":
            return f"প্রিয় {self.name}, transfer {self.transfer}: closed"
        return f"Dear {self.name},\nyour transfer {self.transfer}: it is closed. Write to us if that is wrong.\n\nPonno"
